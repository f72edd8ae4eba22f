"""How settings travel: layers from the editor, edits to it, and what waits for a person's confirmation."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import Json, WireModel
from countersign.wire.history import LedgerHead

LayerName = Literal["default", "user", "workspace", "folder"]


class SettingsLayers(WireModel):
    """The layers as the editor sees them, nested as under ``countersign`` in settings.json."""

    default: dict[str, Json] | None = None
    user: dict[str, Json] | None = None
    workspace: dict[str, Json] | None = None
    folder: dict[str, Json] | None = None


class SettingsFiles(WireModel):
    """Where the layers are kept. Absent, the workspace's and the folder's are both ``.vscode/settings.json``.

    ``workspace`` is the ``.code-workspace`` file that holds the workspace layer, absent where it has not been saved.
    """

    workspace: str | None = None


class ByPerson(WireModel):
    """A value that a person typed and saved in this window; counts as its confirmation."""

    key: str
    digest: str


class SettingsChanged(WireModel):
    """``settings/changed``: replaces all layers. Without ``files`` they are kept where they were."""

    settings: SettingsLayers
    trusted: bool
    files: SettingsFiles | None = None
    by_person: list[ByPerson] | None = None


class TextEdit(WireModel):
    """The new text of the workspace's settings file. ``replaces`` is the SHA-256, in hex, of the text that it replaces,
    both without byte order mark and with line feeds alone as line ends."""

    replaces: str
    text: str


class SettingsUpdateParams(WireModel):
    """``settings/update``: the server asks the editor to write one key. ``value`` null removes it.

    ``edit`` is the same change of the workspace's settings file, computed by the server. A client that has this file
    open applies it there, if the text is the one that it replaces; it does not compute an edit of its own.

    Where ``insert`` or ``remove`` is given, the value is a list and these entries are put into it or taken out of it as
    it stands when the edit is made; ``value`` is then the list as the server last saw it with the edit, for clients
    that cannot edit lists.
    """

    layer: Literal["user", "workspace"]
    path: list[str]
    value: Json = None
    insert: list[Json] | None = None
    remove: list[Json] | None = None
    edit: TextEdit | None = None


class SettingsUpdateResult(WireModel):
    applied: bool
    reason: str | None = None


class UnconfirmedItem(WireModel):
    """One value of the workspace that loosens and waits for a person. ``text`` says what it would mean.

    ``resolved`` is the value as it takes effect, with folders and links resolved, where that differs from ``value``;
    ``allows`` is the gate's sentence on what it would allow; ``changed`` names what differs from the value that a
    person last confirmed at this key.
    """

    key: str
    value: Json = None
    file: str | None = None
    line: int | None = None
    digest: str
    text: str
    resolved: Json = None
    allows: str | None = None
    changed: str | None = None


class SettingsUnconfirmed(WireModel):
    items: list[UnconfirmedItem]


class EditorSaved(WireModel):
    """``editor/saved``: a person saved these files in the editor, so what changed in them is nobody else's doing."""

    paths: list[str]


class SettingsConfirmParams(WireModel):
    digest: str
    accept: bool


class EnvironmentPassParams(WireModel):
    """``environment/pass``: a person wants commands in this workspace to get a variable that is withheld from them.

    The client asks the person in a dialog of its own first; the name then stands in the workspace's settings.
    """

    name: str


class NetworkSettings(WireModel):
    """How the editor reaches the network. Without ``proxy`` the environment's variables count."""

    proxy: str | None = None
    no_proxy: list[str] = []
    strict_tls: bool = True


class ClientAbilities(WireModel):
    """What the client can do. ``settings`` announces that it will send layers, though they may come later.
    ``secrets``: it answers ``secret/read``; ``lm``: it answers ``lm/list`` and ``lm/chat``; ``elicitation``: it draws
    questions of agents; ``editor``: it answers ``editor/openFiles`` and its like; ``terminal``: it runs the command of
    a login in a terminal and tells how that ended. ``ripgrep`` is the path of the program that the editor ships."""

    settings: bool = False
    settings_update: bool = False
    confirm: bool = False
    own_paths: list[str] = []
    secrets: bool = False
    lm: bool = False
    elicitation: bool = False
    editor: bool = False
    terminal: bool = False
    ripgrep: str | None = None
    network: NetworkSettings = NetworkSettings()


class InitializationOptions(WireModel):
    """What ``initialize`` carries besides LSP's own."""

    settings: SettingsLayers | None = None
    files: SettingsFiles | None = None
    trusted: bool = False
    storage: str | None = None
    client: ClientAbilities = ClientAbilities()
    ledger_anchor: LedgerHead | None = None
