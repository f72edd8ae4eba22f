/**
 * What an empty chat suggests: three things that this workspace has something for, found by the names in its folder alone.
 * No file is opened. The words are the webview's.
 */
export type Suggestion =
  | { kind: 'readme'; file: string }
  | { kind: 'build' | 'tests' | 'changes' | 'todo' | 'overview' | 'start' | 'plan' | 'newReadme' };

/** Names that are looked at. */
export const MOST_NAMES = 2000;
const SHOWN = 3;
const README = /^readme(?:\.(?:md|rst|txt|adoc|org))?$/i;
const BUILD =
  /^(?:package\.json|pyproject\.toml|setup\.py|cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|makefile|cmakelists\.txt|gemfile|composer\.json|mix\.exs|[\w.-]+\.(?:sln|csproj))$/i;
const TESTS = /^(?:tests?|specs?|__tests__|pytest\.ini|tox\.ini|(?:jest|vitest)\.config\.\w+|test_\w+\.py)$/i;

/** The first three that fit, those that say most of the workspace first. */
export function suggestionsFor(names: readonly string[]): Suggestion[] {
  const readme = names.find((name) => README.test(name));
  const own = names.filter((name) => !name.startsWith('.'));
  const found: (Suggestion | false)[] = [
    names.some((name) => BUILD.test(name)) && { kind: 'build' },
    names.some((name) => TESTS.test(name)) && { kind: 'tests' },
    readme !== undefined && { kind: 'readme', file: readme },
    own.length > 0 && names.includes('.git') && { kind: 'changes' },
    own.length > 0 && { kind: 'todo' },
    own.length > 0 && { kind: 'overview' },
    { kind: 'start' },
    { kind: 'plan' },
    own.length === 0 && { kind: 'newReadme' },
  ];
  return found.filter((one) => one !== false).slice(0, SHOWN);
}
