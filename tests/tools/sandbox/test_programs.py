"""A hundred ways in which programs open files by themselves: a hidden file's content never appears, a locked one never
changes. Programs that are not installed are counted, and too few of them fail the test."""

from __future__ import annotations

import shutil

import pytest

from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox

pytestmark = needs_sandbox

READERS = """
cat {f} | head {f} | tail {f} | tac {f} | nl {f} | rev {f} | sort {f} | uniq {f} | cut -c1- {f} | paste {f} | fold {f}
fmt {f} | pr {f} | expand {f} | od -c {f} | xxd {f} | hexdump -C {f} | strings {f} | base64 {f} | base32 {f} | wc {f}
dd if={f} | cp {f} copied && cat copied | mv {f} moved && cat moved | ln {f} linked && cat linked | install {f} put && cat put
ln -s {f} soft2 && cat soft2 | tee -a out <{f} | grep -a . {f} | grep -r . private deep | sed -n p {f} | awk 1 {f}
perl -pe 1 {f} | perl -e 'open F,"{f}";print <F>' | python3 -c 'print(open("{f}").read())' | bash -c '. ./{f}; echo $KEY'
python3 -c 'import mmap;f=open("{f}","rb");print(mmap.mmap(f.fileno(),0,prot=1)[:])' | read -r x <{f}; echo $x
python3 -c 'import os;print(os.sendfile(1,os.open("{f}",0),0,99))' | python3 -m json.tool {f} | python3 {f}
node -e 'console.log(require("fs").readFileSync("{f}","utf8"))' | node --env-file={f} -p process.env.KEY | mapfile a <{f}; echo ${{a[@]}}
tar cf - {f} | tar cf - -T - <<<{f} | tar cf - private deep | zip -r - . | gzip -c {f} | bzip2 -c {f} | xz -c {f} | cpio -o <<<{f}
diff {f} /dev/null | cmp -b {f} /dev/null | comm {f} /dev/null | join {f} {f} | patch -o - {f} /dev/null | split {f} && cat xaa
ed -s {f} <<<,p | ex -s +%p +q! {f} | vim -es +%p +q! {f} | sqlite3 :memory: '.read {f}' | sqlite3 :memory: "select readfile('{f}')"
gcc -E -include {f} -x c /dev/null | cpp {f} | echo '#include "{f}"' | gcc -E - | m4 {f} | make -f {f} | make -pf {f}
as {f} | ld {f} | objcopy -I binary -O binary {f} o && cat o | ar rc x.a {f} && cat x.a | openssl base64 -in {f} | openssl enc -in {f}
curl -s file://$PWD/{f} | wget -qO- --input-file={f} | curl -s --config {f} | curl -s -K {f} | curl --data @{f} 127.0.0.1:9
git diff --no-index /dev/null {f} | git hash-object -w {f} && git cat-file -p $(git hash-object {f}) | git add -f {f} && git show :{f}
git grep --no-index . -- {f} | git stash -u && git stash show -p --include-untracked | git -c alias.x='!cat {f}' x | git archive HEAD {f}
git apply {f} | git config -f {f} -l | git commit --allow-empty -F {f} && git log -1 | git worktree add w && cat w/{f} | rg -uu . {f}
find . -name '*.env*' -exec cat {{}} + | find . -type f -exec cat {{}} + | xargs cat <<<{f} | xargs -a {f} echo | cat $(echo {f})
jq -R . {f} | iconv {f} | column {f} | look K {f} | shuf {f} | ptx {f} | tsort {f} | csplit {f} 1 && cat xx00 | sum {f} && cat {f}
busybox cat {f} | php -r 'readfile("{f}");' | ruby -e 'puts File.read("{f}")' | lua -e 'print(io.open("{f}"):read())' | bc {f} | gdb -batch {f}
env -i /bin/cat {f} | nice cat {f} | timeout 9 cat {f} | stdbuf -o0 cat {f} | script -qc 'cat {f}' /dev/null | exec 3<{f}; cat <&3
cat /proc/self/cwd/{f} | cat /proc/self/root$PWD/{f} | cat ./{f} | cat src/../{f} | cat $PWD/{f} | cd src; cat ../{f} | cat {f}?* {f}
"""
WRITERS = """
echo x >{f} | echo x >>{f} | tee {f} <<<x | cp src/a.txt {f} | mv -f src/a.txt {f} | ln -f src/a.txt {f} | install src/a.txt {f}
truncate -s0 {f} | dd of={f} <<<x | sed -i s/o/x/ {f} | perl -i -pe s/o/x/ {f} | rm -f {f} | unlink {f} | chmod 777 {f} && echo x >{f}
python3 -c 'open("{f}","w")' | python3 -c 'import os;os.replace("src/a.txt","{f}")' | node -e 'require("fs").writeFileSync("{f}","x")'
git checkout -f HEAD~0 -- {f} | git rm -f {f} | git mv -f src/a.txt {f} | git apply --unsafe-paths /dev/null | git clean -fdx
ed -s {f} <<<$'1d\nw' | ex -s '+1d' +wq {f} | vim -es +1d +wq {f} | patch {f} <<<x | shred -u {f} | fallocate -l 1 {f} | sort -o {f} src/a.txt
sqlite3 {f} 'create table t(a)' | tar xf /dev/null && touch -d @0 {f} && echo x >{f} | gcc -o {f} -x c - <<<'int main(){{}}' | zip {f} src/a.txt
curl -so {f} file://$PWD/src/a.txt | rsync src/a.txt {f} | split -b1 src/a.txt {f} && mv {f}aa {f} | setfattr -n user.x -v y {f} && echo x >{f}
python3 -c 'import os,mmap;m=mmap.mmap(os.open("{f}",2),0);m[0]=65' | gzip -f {f} | unzip -o x -d . | awk '{{print>"{f}"}}' src/a.txt
"""


def commands(table: str) -> list[str]:
    return [each.strip() for line in table.strip().splitlines() for each in line.split(" | ")]


def test_there_are_a_hundred() -> None:
    assert len(commands(READERS)) + len(commands(WRITERS)) >= 100


@pytest.mark.parametrize("path", [".env", "notes.txt", "private/key", "src/hard"])
async def test_no_program_shows_a_hidden_file(bench: SandboxBench, path: str) -> None:
    """All in one run each, so that the hundred share one sandbox; each in a subshell of its own."""
    ready = [
        each.format(f=path)
        for each in commands(READERS)
        if shutil.which(each.split()[0]) or each.startswith(("read", "map", "exec", "cd"))
    ]
    assert len(ready) >= 60
    text = "\n".join(f"( {each} ) </dev/null 2>&1 | head -c 2000" for each in ready)
    bench.file("tries.sh", text)
    outcome = await bench.do(
        "shell", command="bash tries.sh; git cat-file --batch --batch-all-objects 2>/dev/null; true"
    )
    assert SECRET not in outcome.output
    for made in bench.workspace.rglob("*"):
        known = made.name in (".env", ".env.local", "server.pem", "notes.txt", "key", "hard", "soft", "soft2", "linked")
        if made.is_file() and not made.is_symlink() and not known:
            assert SECRET.encode() not in made.read_bytes(), made


@pytest.mark.parametrize("path", ["fixed.txt", "locked/a", ".vscode/settings.json", ".git/config", ".envrc"])
async def test_no_program_changes_a_locked_file(bench: SandboxBench, path: str) -> None:
    before = (bench.workspace / path).read_bytes()
    ready = [each.format(f=path) for each in commands(WRITERS) if shutil.which(each.split()[0])]
    assert len(ready) >= 25
    bench.file("tries.sh", "\n".join(f"( {each} ) </dev/null >/dev/null 2>&1" for each in ready))
    await bench.do("shell", command="bash tries.sh; true")
    assert (bench.workspace / path).read_bytes() == before


async def test_outside_the_sandbox_they_show_and_change_it(bench: SandboxBench) -> None:
    """The tables can fail: the same commands succeed without the sandbox."""
    bench.set(sandbox_mode="off")
    shown = 0
    for each in commands(READERS)[:40]:
        if shutil.which(each.split()[0]):
            shown += SECRET in (await bench.do("shell", command=each.format(f="notes.txt") + " </dev/null")).output
            bench.file("notes.txt", SECRET)
    assert shown >= 15
    assert (await bench.do("shell", command=commands(WRITERS)[0].format(f="fixed.txt"))).success
    assert (bench.workspace / "fixed.txt").read_text() == "x\n"
