"""The options of compilers for C and its relatives, of their assembler and linker (facet ``readers``, ``compiler``).

GCC has some 2,500 options, clang as many of its own, and most of them end in any name. So those that do nothing else
than compile and link are listed, in families, and what any other does counts as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse, named
from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.syntax.tree import Word

_CODE = (
    r"-wrapper|-fplugin|-specs|-Xclang|-load|@|-W[alp],(?:.*,)?(?:@|-+(?:plugin|error-h|load-p|thinlto-[dr]|mri))"
    r"|-+plugin|-+error-h|-ccc-|-fpass-plugin|--config|-d?T|-+load-p|-+(?:f?thinlto-distr|thinlto-remote|mri)"
    r"|-fcompare-debug=|-foffload(?:-options)?=.*-|-+default-sc|-+(?:thinlto-[ip]|print-sy|separate-d)"
)
_WRITES = r"-MF|-dumpdir|-save-temps|-MJ|--?Ma|--?depe|-dumpbase|-Wa,(?:.*,)?(?:-a\w*=|-o|--?MD)|-W[lp],(?:.*,)?-M[DFa]"
_IS_CODE, _IS_WRITTEN = re.compile(_CODE), re.compile(_WRITES)

BEGINNINGS = re.compile(rf"(?:{_CODE}|{_WRITES})")
"""How a word begins that loads code or writes a file, for words of which only the beginning is known."""

_COMPILES = re.compile(
    r"""-(?:
      [cSEvwsPCHMpgGiaqQrRXdntN]|CC|MM|MP|MG|MD|MMD|MV|pg|pipe|ansi|undef|remap|trigraphs|traditional(?:-cpp)?|ObjC(?:\+\+)?
      |shared|static|pthreads?|mthreads|nostd(?:lib|inc)(?:\+\+)?|nostartfiles|nodefaultlibs|nolibc|rdynamic|pie|no-pie
      |coverage|static-(?:pie|lib\w+(?:\+\+)?)|shared-libgcc|pedantic(?:-errors)?|no-canonical-prefixes|no-integrated-cpp|integrated-as
      |no-integrated-as|emit-llvm|symbolic|\#\#\#|help|version|time|all_load|noall_load|bundle|dynamic(?:lib)?|nologo
      |d[MDNIU]|dump(?:machine|version|fullversion|specs)|print-[\w-]+(?:=[\w.+-]*)?|Qunused-arguments|Qn|Qy
      |O(?:[0-9szg]|fast)?|g(?!nat|cc-)[\w.-]*(?:=\w*)?|std=[\w+:.]+|stdlib=[\w+]+|rtlib=[\w-]+|unwindlib=[\w-]+
      |m(?!ap|llvm|mlir)[\w.+-]*(?:=[\w.,+:-]*)?|W[a-zA-Z][\w+-]*(?:=[\w+.-]*)?|W
      |f(?!dump)[\w+-]+|fuse-ld=[\w.-]+
      |f(?:no-)?(?:sanitize(?:-\w+)*|visibility|lto|stack-\w+|color-diagnostics|diagnostics-(?:color|show-\w+|format)
        |cf-protection|abi-version|max-errors|tabstop|openmp|fp-contract|fp-model|prefetch-\w+|inline-limit|template-[\w-]+
        |constexpr-[\w-]+|message-length|excess-precision|tls-model|(?:simd|vect)-cost-model|align-\w+|patchable-\w+(?:-\w+)*
        |zero-call-used-regs|trivial-auto-var-init|strict-flex-arrays|(?:input|exec|wide-exec)-charset|code-model
        |stack-limit-\w+|sched-[\w-]+|compare-elim|wrapv|pic|gnuc-version|ms-compatibility-version|debug-info-for-profiling
        |macro-backtrace-limit|error-limit|spell-checking-limit|ivopts|exceptions|random-seed|bracket-depth|rtti
        |compiler-version|standalone-debug|experimental-library|pack-struct|permitted-flt-eval-methods|dwarf-\w+
        |crash-diagnostics|(?:debug|file)-compilation-dir|profile-instr-use
        |check|init-\w+|convert|max-[\w-]+|fpe-\w+|coarray|record-marker|blas-matmul-limit
      )=[\w+.,:*-]*
      |f[\w-]*prefix-map=.*
      |[DULIFxezuyAbhY].*|l(?!to_).*|i(?:system|quote|dirafter|nclude|macros|sysroot|withsysroot|prefix|withprefix(?:before)?|multilib).*
      |o(?!bject).*|M[TQ].*|Xlinker|Xpreprocessor|Xcompiler|Xptxas|gencode.*|arch(?:=[\w,.]*)?|code=[\w,.]*
      |(?:weak_|reexport_)?framework|install_name|current_version|compatibility_version|undefined|target|param
      |exported_symbols_list|headerpad_max_install_names|s[A-Z][A-Z0-9_]*(?:=[\w,-]*)?|J.*
    )
    |--(?:analyze|help(?:=[\w,^-]*)?|version|coverage|pedantic|verbose|shared|static|pipe|target(?:=[\w.-]*)?
      |target-help|std=[\w+:]+|param(?:=[\w.=-]*)?|print-[\w-]+(?:=[\w.+-]*)?|32|64|x32|n32|g\w*(?:-\w+)?|no-pad-sections
      |noexecstack|execstack|statistics|compress-debug-sections(?:=\w+)?|defsym|fatal-warnings|no-warn|warn|strip-local-absolute
      |divide|mf\w+|expt-[\w-]+|use_fast_math|generate-code.*|gpu-architecture.*|cuda-gpu-arch=\w+|offload-arch=[\w:+-]+
      |optimize|debug|bind|no-entry|emrun|profiling(?:-funcs)?|threads(?:=\d+)?|relocatable-device-code.*|ptxas-options=.*
    )""",
    re.VERBOSE | re.DOTALL,
)
"""The options, each a whole word, that do nothing but compile and link what the words name. What their values name is
judged as a file (``files/option_values.py``)."""

_LINKS = re.compile(
    r"""-(?:[sSxXErginNqQtOGdvVM]|O\d|[LeuyzhRAY].*|l(?!to_).*|m(?!ap|llvm)\w*|B(?:symbolic(?:-functions)?|static|dynamic)
      |-?(?:
        (?:no-)?(?:gc-sections|as-needed|whole-archive|undefined|undefined-version|export-dynamic|demangle|relax|keep-memory
          |allow-shlib-undefined|eh-frame-hdr|warn-\w+(?:-\w+)*|ld-generated-unwind-info|pie|dynamic-linker|print-gc-sections
          |add-needed|copy-dt-needed-entries|check-sections|define-common|rosegment|mmap-output-file|fatal-warnings|omagic
          |print-memory-usage|strip-discarded|gnu-unique|allow-multiple-definition|undefined-symbols|apply-dynamic-relocs)
        |trace-symbol(?:=\w+)?|error-unresolved-symbols|print-map|gdb-index|(?:enable|disable)-auto-import
        |start-group|end-group|enable-new-dtags|disable-new-dtags|build-id(?:=\w+)?|hash-style(?:=\w+)?|icf=\w+
        |strip-(?:all|debug)|discard-(?:all|locals|none)|rpath(?:-link)?(?:=.*)?|(?:soname|dynamic-linker)(?:=.*)?
        |(?:wrap|entry|init|fini|undefined|require-defined|defsym|export-dynamic-symbol|exclude-libs)(?:=[^/]*)?
        |sort-(?:section(?:=\w+)?|common)|threads(?:=\d+)?|color-diagnostics(?:=\w+)?|stats|trace|verbose|help|version
        |shared|static|relocatable|emit-relocs|nmagic|nostdlib|library(?:-path)?(?:=.*)?|push-state|pop-state|cref
        |unresolved-symbols=[\w-]+|compress-debug-sections=\w+|dead_strip|export_dynamic|install_name|undefined
        |(?:compatibility|current)_version|headerpad_max_install_names|no_warn_duplicate_libraries|search_paths_first
        |all_load|no_compact_unwind|dead_strip_dylibs|bind_at_load|no_fixup_chains|ld_classic|large-address-aware
        |(?:version-script|dynamic-list|retain-symbols-file|just-symbols|exported_symbols_list)(?:=.*)?
        |subsystem(?:=\w+)?|stack(?:_size)?(?:=\w+)?|image-base(?:=\w+)?|nxcompat|dynamicbase|kill-at|add-stdcall-alias
        |emulation(?:=\w+)?|oformat(?:=[\w-]+)?|format(?:=[\w-]+)?|pack-dyn-relocs=\w+|nostart-stop-gc|orphan-handling=\w+
        |section-start(?:=.*)?|max-page-size=\w+|common-page-size=\w+|no-rosegment|lto-O\d|thinlto-jobs=\w+
      ))""",
    re.VERBOSE | re.DOTALL,
)
"""The same of a linker's, which are also given behind ``-Wl,``, ``-Xlinker`` and to itself."""

_INCLUDES = re.compile(r"-i(?:nclude|macros|system|quote|dirafter|prefix|withprefix|sysroot|withsysroot|multilib)")
"""How an option begins whose file or folder stands in the same word."""

_HANDED = re.compile(r"-W([alp]),(.*)", re.DOTALL)


def compiler_uses(words: Sequence[Word], found: Arguments) -> tuple[list[EscapeUse], None]:
    """Return what the words of a compiler, an assembler or a linker do beyond compiling and linking."""
    uses: list[EscapeUse] = []
    before = None
    for word in words[1:]:
        uses += _uses(word, of_linker=before == "-Xlinker")
        before = word.value
    # The program and its options stand in the next word, as a list.
    uses += [
        named("runs", (following.value or NAMED_NOWHERE,), "`-wrapper` runs a program", following.value)
        for word, following in pairwise(words)
        if word.value == "-wrapper"
    ]
    return uses, None


def _uses(word: Word, *, of_linker: bool) -> Iterator[EscapeUse]:
    names = (word.value or NAMED_NOWHERE,)
    if _IS_CODE.match(word.prefix):
        yield named("code", names, f"`{word.prefix}` loads code or settings")
    elif _IS_WRITTEN.match(word.prefix):
        yield named("writes", names, "it writes a file beside its output")
    elif word.value is None and _INCLUDES.match(word.prefix):
        yield named("code", names, f"what `{word.source}` does is not known")
    elif word.value is not None and not _is_plain(word.value, of_linker=of_linker):
        yield named("code", names, f"what `{word.value}` does is not known")


def _is_plain(text: str, *, of_linker: bool) -> bool:
    """Whether a word is no option, or one that only compiles and links; ``of_linker``: only the linker gets it."""
    if text[:1] != "-" or text in {"-", "--"}:
        return True
    handed = _HANDED.fullmatch(text)
    if handed is None:
        return bool(_LINKS.fullmatch(text)) or (not of_linker and bool(_COMPILES.fullmatch(text)))
    known = _LINKS if handed[1] == "l" else _COMPILES
    # Each piece once: a text made to take long repeats them.
    return all(piece[:1] != "-" or known.fullmatch(piece) for piece in dict.fromkeys(handed[2].split(",")))
