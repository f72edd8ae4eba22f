import { expect, it } from 'vitest';

import { createTexts, type EditorText } from '../src/editorText.ts';
import { createKeys, type KeysHost } from '../src/keys.ts';
import type { AgentView, ModelView } from '../src/wire.gen.ts';

const CLAUDE: ModelView = {
  name: 'claude',
  provider: 'anthropic',
  model: 'm',
  origin: 'https://api.anthropic.com',
  secret: 'models.claude',
};

const CODEX: AgentView = {
  agentName: 'Codex',
  type: 'acp',
  state: 'idle',
  label: 'unguarded',
  bypass: false,
  default: false,
  secrets: [{ name: 'OPENAI_KEY', secret: 'agents.Codex/OPENAI_KEY', origin: 'codex-acp --quiet' }],
};

function desk(models: ModelView[], typed: string | undefined, agents: AgentView[] = []) {
  const secrets = new Map<string, string>();
  const said: string[] = [];
  const host: KeysHost = {
    ...createTexts((message) => message),
    pick: async (items) => items[0],
    async askSecret(title: EditorText, prompt: EditorText) {
      said.push(title, prompt);
      return typed;
    },
    async askText(title: EditorText, prompt: EditorText) {
      said.push(`shown: ${title}`, prompt);
      return typed;
    },
    tell: (_, message) => void said.push(message),
    readSecret: async (name) => secrets.get(name),
    storeSecret: async (name, value) => void secrets.set(name, value),
    deleteSecret: async (name) => void secrets.delete(name),
  };
  const link = { request: (async (method: string) => (method === 'model/list' ? { models } : { agents })) as never };
  return { keys: createKeys(link, host), secrets, said };
}

it('a key that was entered is given for the origin that the form named, and for no other', async () => {
  const { keys, said } = desk([CLAUDE], ' sk-1234567 ');
  await keys.set();
  expect(said.join(' ')).toContain('https:');
  expect(said.join(' ')).not.toContain('sk-1234567');
  expect(await keys.read({ name: 'models.claude', origin: 'https://api.anthropic.com' })).toEqual({
    value: 'sk-1234567',
  });
  const elsewhere = await keys.read({ name: 'models.claude', origin: 'https://evil.example' });
  expect(elsewhere.value).toBeUndefined();
  expect(elsewhere.reason).toContain('enter it again');
  expect(await keys.read({ name: 'models.other', origin: 'https://api.anthropic.com' })).toEqual({});
});

it('a key of an agent is given to the command line that the form named, and to no other', async () => {
  const { keys, said, secrets } = desk([], 'sk-1234567', [CODEX]);
  await keys.set();
  expect(said.join(' ')).toContain('codex-acp --quiet');
  expect([...secrets.keys()]).toEqual(['agents.Codex/OPENAI_KEY']);
  const name = 'agents.Codex/OPENAI_KEY';
  expect(await keys.read({ name, origin: 'codex-acp --quiet' })).toEqual({ value: 'sk-1234567' });
  const other = await keys.read({ name, origin: 'codex-acp --quiet --loud' });
  expect(other.value).toBeUndefined();
  expect(other.reason).toContain('was entered for codex-acp --quiet;');
});

it('the form for a login names the variable, what the agent calls it and the program, and keeps the key for that', async () => {
  const { keys, said } = desk([], 'sk-1234567');
  const name = 'agents.Codex/KEY';
  const key = { name: 'KEY', label: 'Your $(zap) key', secret: name, origin: 'codex-acp · 12' };
  expect(await keys.enter('Codex', key)).toBe('kept');
  expect(said).toEqual([
    'Key of KEY (Your $ (zap) key)',
    'It is kept in the secret storage of the editor and given to the program codex-acp · 12 only. Leave it empty to remove it.',
  ]);
  expect(await keys.read({ name, origin: 'codex-acp · 12' })).toEqual({ value: 'sk-1234567' });
  expect((await keys.read({ name, origin: 'codex-acp · 34' })).value).toBeUndefined();
  const emptied = desk([], ' ');
  expect(await emptied.keys.enter('Codex', { ...key, optional: true })).toBe('removed');
  expect(emptied.said[1]).toContain('The login works without it.');
  expect(await desk([], undefined).keys.enter('Codex', key)).toBeUndefined();
});

it('a value that is no secret is shown while it is typed, in both forms, and kept in the same place', async () => {
  const plain = { name: 'PROJECT', secret: 'agents.Codex/PROJECT', origin: 'codex-acp', plain: true };
  const { keys, said, secrets } = desk([], 'my-project', [{ ...CODEX, secrets: [plain] }]);
  await keys.enter('Codex', plain);
  await keys.set();
  expect(said.filter((line) => line.startsWith('shown: '))).toEqual([
    'shown: Value of PROJECT',
    'shown: Value of PROJECT',
  ]);
  expect([...secrets.keys()]).toEqual(['agents.Codex/PROJECT']);
});

it('a closed form changes nothing and an empty one removes the key', async () => {
  const closed = desk([CLAUDE], undefined);
  closed.secrets.set('models.claude', 'x');
  await closed.keys.set();
  expect(closed.secrets.get('models.claude')).toBe('x');
  const emptied = desk([CLAUDE], '');
  emptied.secrets.set('models.claude', 'x');
  await emptied.keys.set();
  expect(emptied.secrets.size).toBe(0);
});

it('a model whose key stands in a variable is not asked for', async () => {
  const { keys, said, secrets } = desk([{ ...CLAUDE, secret: undefined }], 'sk-1234567');
  await keys.set();
  expect(said).toHaveLength(1);
  expect(secrets.size).toBe(0);
});

it('what cannot be read in the secret storage is no key', async () => {
  const { keys, secrets } = desk([CLAUDE], undefined);
  for (const text of ['', 'x', '[]', 'null', '{"origin":1,"key":"k"}']) {
    secrets.set('models.claude', text);
    expect(await keys.read({ name: 'models.claude', origin: 'https://api.anthropic.com' })).toEqual({});
  }
});
