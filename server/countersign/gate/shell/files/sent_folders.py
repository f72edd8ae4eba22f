"""Files and folders that programs send away or publish: named by bare words, by options, or the folder they run in.

One table for deployers, publishers and servers. Their rows elsewhere say nothing of their operands, since most of
these are no files (`kubectl get pods`); under rules for reading, what is found here asks where such a rule may match.
A word that is looked at although it is no path costs nothing unless a rule speaks of that very name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from countersign.gate.shell.files.file_use import unknown
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_MOST = 200
_FILE_ADDRESS = re.compile(r"(?i)\Afileb?://")


@dataclass(frozen=True, slots=True)
class _Sends:
    """What a program sends: values of ``options``, its ``operands``, the folder ``here``. It holds for the subcommands
    with one of these names, wherever the name stands (``publish*``: that a part between colons begins so), and for all
    if there are none, but never where the first word is one of ``others``, and only where an option of ``where`` stands
    if there are any."""

    subcommands: frozenset[str]
    options: frozenset[str]
    operands: bool
    here: bool
    others: frozenset[str]
    where: frozenset[str]


def _sends(
    programs: str,
    subcommands: str = "",
    *,
    options: str = "",
    operands: bool = False,
    here: bool = False,
    others: str = "",
    where: str = "",
) -> Iterator[tuple[str, _Sends]]:
    named = [frozenset(text.split()) for text in (subcommands, options, others, where)]
    what = _Sends(named[0], named[1], operands, here, named[2], named[3])
    yield from ((program, what) for program in programs.split())


_ROWS = (
    # Kubernetes
    *_sends("kubectl oc", options="-f --filename -k --kustomize --from-file --from-env-file --patch-file --cert --key "
            "--from-dir --from-archive --certificate-authority"),
    *_sends("kubectl oc", "kustomize new-app new-build", operands=True),
    *_sends("kustomize", operands=True),
    *_sends("helm", "install upgrade template lint package push show dependency dep diff", operands=True,
            options="-f --values --set-file"),
    *_sends("skaffold tilt devspace", "run dev deploy up build apply debug ci", here=True, operands=True),
    # Images
    *_sends("docker podman podman-remote nerdctl nerdctl.lima lima colima finch", "build b", operands=True,
            options="--build-context --secret --ssh"),
    *_sends("docker podman podman-remote nerdctl nerdctl.lima lima colima finch docker-compose podman-compose",
            "bake f push", here=True, operands=True),
    *_sends("docker podman podman-remote", "checkpoint import load", operands=True),
    *_sends("skopeo oras crane regctl cosign singularity apptainer", "copy sync push append upload attach sign attest",
            operands=True, here=True, options="-f --file --new_layer --predicate"),
    *_sends("buildah img kaniko pack ko packer earthly jib", operands=True,
            options="--path -p --context --build-context"),
    # Hosts of sites and functions
    *_sends("vercel now surge", operands=True, here=True, options="--cwd --project",
            others="alias certs dns domains env help inspect link list login logout logs ls project projects promote "
            "pull remove rm rollback secrets switch teams teardown token whoami"),
    *_sends("netlify", "deploy build", operands=True, here=True, options="-d --dir -f --functions"),
    *_sends("wrangler", "deploy publish versions pages dev", operands=True, here=True,
            options="--assets --site --file -f --path"),
    *_sends("firebase", "deploy hosting:channel:deploy", here=True),
    *_sends("fly flyctl", "deploy launch", operands=True, here=True, options="--dockerfile -c --config"),
    *_sends("heroku", "builds:create container:push container:release", operands=True, here=True,
            options="--source-tar"),
    *_sends("railway", "up", operands=True, here=True),
    *_sends("render eb cf", "deploy push create up", operands=True, here=True, options="-p"),
    *_sends("deno", "deploy", here=True),
    *_sends("deployctl modal convex", "deploy", operands=True, here=True),
    *_sends("supabase", "deploy push", here=True),
    *_sends("shopify eas expo amplify", "push publish deploy build update", here=True),
    # Clouds
    *_sends("sam", "deploy package build sync", here=True, options="-t --template-file --template"),
    *_sends("pulumi", "up update preview deploy", here=True, options="-C --cwd"),
    *_sends("cdk cdktf sst serverless sls", "deploy synth", here=True, options="-a --app --cwd --package -p"),
    *_sends("gcloud", "deploy submit", operands=True, here=True, options="--source"),
    *_sends("az", "up deploy publish upload-batch sync", here=True,
            options="-s --source --src --src-path --source-path"),
    *_sends("aws", options="--zip-file --template-file --template-body --code --body --payload --cli-input-json "
            "--cli-input-yaml --source --policy-document --user-data"),
    *_sends("aws", "package deploy", here=True),
    # Registries
    *_sends("npm pnpm yarn bun", "publish pack", operands=True, here=True),
    *_sends("cargo", "publish package", here=True, options="--manifest-path"),
    *_sends("twine", operands=True),
    *_sends("poetry hatch flit pdm uv maturin", "publish upload build", operands=True, here=True),
    *_sends("vsce ovsx", "publish package", operands=True, here=True),
    *_sends("gem", "push build", operands=True),
    *_sends("mvn mvnw", "deploy site-deploy deploy:* release:* stage:* jib:* docker:*", here=True, options="-f --file "
            "-Dfile"),
    *_sends("gradle gradlew", "publish* upload* deploy* release* jib* docker*", here=True, options="-p --project-dir"),
    *_sends("sbt mill scala-cli lein clojure clj boot ant bazel bazelisk", "publish* deploy* release* upload* push*",
            here=True),
    *_sends("lerna nx rush changeset beachball auto", "publish release upload", here=True, options="--contents"),
    *_sends("np release-it semantic-release goreleaser jreleaser", here=True),
    *_sends("conan vcpkg dart pub flutter mix rebar3 cabal stack luarocks pod swift elm jsr deno opam gleam julia "
            "spago nimble shards raku zef dub alire alr crystal ansible-galaxy composer",
            "publish upload push release hex.publish publish-registry trunk pub lib", here=True, operands=True),
    *_sends("nuget dotnet choco", "push pack", here=True, operands=True, options="-s"),
    *_sends("hg chg sl fossil bzr brz darcs jj svn cvs p4 pijul", "push sync commit ci import update outgoing bundle "
            "send submit record git", here=True, operands=True),
    *_sends("dvc git-annex dolt lakefs lakectl", "push sync copy upload commit", here=True, operands=True),
    *_sends("huggingface-cli hf kaggle wandb mlflow clearml-data gradio streamlit", "upload create push put sync "
            "deploy version upload-large-folder", here=True, operands=True, options="-p --path --files"),
    # Servers of files
    *_sends("php", operands=True, here=True, options="-t --docroot", where="-S --server"),
    *_sends("ruby", operands=True, here=True, where="-run -rhttpd -rwebrick -run"),
    *_sends("caddy", "file-server", operands=True, here=True, options="--root -r"),
    *_sends("caddy", "run start reload", here=True),
    *_sends("busybox httpd lighttpd mini_httpd thttpd darkhttpd webfsd nginx", "httpd", operands=True, here=True,
            options="-h -d -r -p -f -c"),
    *_sends("lighttpd mini_httpd thttpd darkhttpd webfsd", operands=True, here=True, options="-h -d -r -f -C"),
    *_sends("miniserve simple-http-server dufs sfz filebrowser devd ran ws local-web-server lite-server node-static "
            "ecstatic superstatic static static-server static-web-server httpserver jwebserver goshs updog "
            "uploadserver SimpleHTTPServer pyftpdlib ftpserver tftpd atftpd vsftpd unfsd adb-sync gohttpserver gossa "
            "quark hfs woof qrcp onionshare onionshare-cli ffsend sendme toss zget",
            operands=True, here=True, options="-d -r -t -p -h -C -b -l --directory --root --dir --docroot"),
    *_sends("twist twistd", "web", operands=True, here=True, options="--path"),
    *_sends("rclone", "serve copy sync move copyto moveto bisync rcd", operands=True),
    *_sends("croc wormhole wormhole-william wormhole-rs portal magic-wormhole", operands=True),
    *_sends("ipfs syncthing", "add serve", operands=True, here=True),
    *_sends("tailscale", "serve funnel file cp drive", operands=True),
    *_sends("ngrok", operands=True, options="--config"),
    *_sends("mutagen unison lsyncd", operands=True, here=True),
    # Others that take a folder with them
    *_sends("gh", "create", operands=True, options="--source -s"),
    *_sends("gh", "secret variable", options="-f --env-file"),
    *_sends("codecov codecovcli", here=True, operands=True, options="-f --file -s --dir"),
    *_sends("serve http-server live-server http.server browser-sync", operands=True, here=True,
            options="-d --directory"),
)  # fmt: skip

_BY_PROGRAM: dict[str, list[_Sends]] = {}
for _program, _row in _ROWS:
    _BY_PROGRAM.setdefault(_program, []).append(_row)


def sent_files(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield what a command may send: files and folders, ``.`` for all that lies where it runs."""
    rows = _BY_PROGRAM.get(name)
    if rows is None:
        return
    words = words[1 : _MOST + 1]
    bare = [word for word in words if word.prefix[:1] != "-"]
    for row in rows:
        if words and words[0].value in row.others:
            continue
        if row.where and not any(_stands(word, row.where) for word in words):
            continue
        if row.subcommands and not any(_means(word.value, each) for word in bare for each in row.subcommands):
            continue
        if row.operands:
            yield from (part for word in bare if not _is_setting(word) for part in _parts(word))
        for index, word in enumerate(words):
            given = _given(word, words[index + 1 : index + 2], row.options)
            yield from _parts(given) if given is not None else ()
        if row.here:
            yield constant(".")


def _is_setting(word: Word) -> bool:
    """Whether it is ``name=$value``, which may hold anything but is no path."""
    return word.value is None and "=" in word.prefix and "/" not in word.prefix


def _means(word: str | None, subcommand: str) -> bool:
    """Whether a word may be this subcommand, or a beginning of it that some programs take for the whole."""
    if word is None or word == subcommand:
        return True
    if subcommand.endswith("*"):
        return any(word[at:].startswith(subcommand[:-1]) for at in (0, word.rfind(":") + 1))
    return len(word) > 2 and subcommand.startswith(word)


def _stands(word: Word, options: frozenset[str]) -> bool:
    """Whether a word is one of these options, its value attached or not, or may be one."""
    text = word.prefix
    return (word.value is None and not text) or any(text == each or text.startswith(each) for each in options)


def _given(option: Word, following: Sequence[Word], options: frozenset[str]) -> Word | None:
    """The value of one of these options: ``--file x``, ``--file=x``, ``-f x`` or ``-fx``."""
    text = option.prefix
    if text[:1] != "-":
        return None
    name, equals, value = text.partition("=")
    if name in options and not equals:
        return following[0] if following else None
    if name not in options and not (text[:2] in options and text[1:2] != "-"):
        return None
    return unknown() if option.value is None else constant(value if name in options else text[2:])


def _parts(word: Word) -> Iterator[Word]:
    """The paths in ``path``, ``key=path``, ``a,b``, ``fileb://path`` and ``@path``."""
    value = word.value
    if value is None or word.tilde:
        yield word
        return
    for part in dict.fromkeys((value, *value.split(","))):
        for text in dict.fromkeys((part, part.rpartition("=")[2])):
            path = _FILE_ADDRESS.sub("", text) if "://" in text else text.removeprefix("@")
            if path:
                yield constant(path)
