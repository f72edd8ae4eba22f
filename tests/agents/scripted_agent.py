"""An ACP agent that does what a script says: a child process for everything that no well-behaved agent would do.

Run as `scripted_agent.py SCRIPT LOG`, standard library only. SCRIPT is JSON: `{"prompts": [[step, …], …]}`, the steps
of each `session/prompt` in turn (the last is repeated), and optionally `"modes"`, `"version"`, `"greeting"`.
`"remembers": true` makes it keep what it was prompted, beside SCRIPT or in the file `"memory"`, and repeat that when a
session is loaded;
`"loads": [[step, …], …]` are played in turn before it answers `session/load` or `session/resume`, `"after_load": [step,
…]` right after; `"on_mode": [step, …]` once, before it answers `session/set_mode` (none
of them may wait); `"new_fails": MESSAGE` is its answer to `session/new`;
`"needs_login": MESSAGE` is its answer to that, to loading and to prompts (or to the methods in `"login_for"` only),
until `authenticate` is asked, or where the variable `"login_env"` is set;
`"login_fails": MESSAGE` is its answer to that;
`"tells_env": NAME` makes it say the value of that variable with each prompt, on stderr too;
`"offers": {…}` joins its answer to `session/new`, and the answer to `session/set_config_option` is the `configOptions`
in it with the new value, to a value in `"refuses"` an error; `"strays": {ID: [OTHER, VALUE]}` sets another
option along with that one. `"lists": [[{…}, …], …]` are the pages of `session/list`, each with a cursor but the
last; with `"endless": true` the last has the first's cursor. `session/fork` copies what a session remembers. Steps:

    {"update": {…}}                   a session/update; `{terminal}` in it is the id of the last terminal
    {"ask": METHOD, "id": ID, "params": {…}, "nowait": true}   a request to the client; "raw" beside "params" is merged
    {"await": ID}                     wait for the answer to that request
    {"if": ID, "option": "…", "do": [steps]}     when the answer selected that option
    {"hook": {…} or TEXT, "id": ID, "nowait": true, "kill": true}   run the hook that the file $HOOKS names, with this
                                      as its input; its answer counts as the option "yes" or "no"; "kill" ends it once
                                      the file SCRIPT with `.kill` instead of `.json` is there
    {"notify": METHOD, "params": {…}} a notification
    {"write": [PATH, TEXT]}           act, without asking anybody
    {"spawn": TEXT}                   start bash with this text in a session of its own, and wait for its first line
    {"until": {"told": FIFO}}         wait for a byte in a named pipe
    {"until": "cancel"}               wait for session/cancel
    {"until": "file"}                 wait for the file SCRIPT with `.go` instead of `.json`
    {"exit": CODE}                    die at once
    {"line": "…"}                     a raw line
    {"stop": REASON}                  answer the prompt (else end_turn at the end of the steps)
    {"answer": REASON}                answer the prompt and go on with the steps
    {"quiet": true}                   wait until every request that was sent is answered
    {"fail": MESSAGE}                 answer the prompt with an error

Every message that comes in is a line in LOG, and so is `{"started": …}`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

LOGIN_FOR = ("session/new", "session/load", "session/prompt")


class Agent:
    """Reads in one thread, plays each prompt in another."""

    def __init__(self, script: dict, log) -> None:
        self.script = script
        self.log = log
        self.changed = threading.Condition()
        self.answers: dict = {}
        self.cancels = 0
        self.played = 0
        self.sessions = 0
        self.asked: set = set()
        self.prompt: dict = {}
        self.loaded = 0
        kept = script.get("memory")
        self.memory = Path(kept).expanduser() if kept else Path(sys.argv[1]).with_suffix(".memory")

    def serve(self) -> None:
        self.note({"started": {"env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid()}})
        for line in sys.stdin:
            message = json.loads(line)
            self.note(message)
            method = message.get("method")
            if method is None:
                with self.changed:
                    self.answers[message["id"]] = message
                    self.changed.notify_all()
            elif method == "initialize":
                told = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "scripted",
                        "version": self.script.get("version", "1")}}  # fmt: skip
                self.reply(message, {**told, **self.script.get("greeting", {})})
            elif self.lacks_login() and method in self.script.get("login_for", LOGIN_FOR):
                error = {"code": -32000, "message": self.script["needs_login"]}
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            elif method == "authenticate" and "login_fails" in self.script:
                error = {"code": -32603, "message": self.script["login_fails"]}
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            elif method == "session/new" and "new_fails" in self.script:
                error = {"code": -32000, "message": self.script["new_fails"]}
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            elif method == "session/new":
                self.sessions += 1
                ids = self.script.get("sessions", ["session-1"])
                session = ids[min(self.sessions, len(ids)) - 1]
                if self.script.get("remembers"):
                    remembered = self.remembered()
                    session = f"session-{len(remembered) + 1}"
                    self.remember({**remembered, session: []})
                self.reply(message, {"sessionId": session, "modes": self.script.get("modes"),
                                     **self.script.get("offers", {})})  # fmt: skip
            elif method == "session/list":
                self.list(message)
            elif method == "session/fork":
                self.fork(message)
            elif method == "session/set_config_option" and "offers" in self.script:
                self.set_option(message)
            elif method == "session/prompt":
                steps = self.script["prompts"][min(self.played, len(self.script["prompts"]) - 1)]
                self.played += 1
                if self.script.get("remembers"):
                    remembered = self.remembered()
                    words = [block["text"] for block in message["params"]["prompt"]]
                    remembered[message["params"]["sessionId"]] += words
                    self.remember(remembered)
                threading.Thread(target=self.play, args=(message, steps), daemon=True).start()
            elif method in ("session/load", "session/resume"):
                threading.Thread(target=self.load, args=(message,), daemon=True).start()
            elif method == "session/cancel":
                with self.changed:
                    self.cancels += 1
                    self.changed.notify_all()
            elif "id" in message:
                if method == "authenticate" and "login_env" not in self.script:
                    self.script.pop("needs_login", None)
                if method == "session/set_mode":
                    self.prompt = self.prompt or message
                    self.run(self.script.pop("on_mode", []))
                self.reply(message, {})

    def lacks_login(self) -> bool:
        return "needs_login" in self.script and not os.environ.get(self.script.get("login_env", ""))

    def set_option(self, request: dict) -> None:
        params = request["params"]
        if params["value"] in self.script.get("refuses", []):
            error = {"code": -32602, "message": f"{params['value']} is not for you"}
            self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
            return
        options = self.script["offers"]["configOptions"]
        for option in options:
            if option["id"] == params["configId"]:
                option["currentValue"] = params["value"]
        if params["configId"] in self.script.get("strays", {}):
            other, value = self.script["strays"][params["configId"]]
            next(option for option in options if option["id"] == other)["currentValue"] = value
        self.reply(request, {"configOptions": options})

    def list(self, request: dict) -> None:
        pages = self.script.get("lists", [[]])
        number = int(request["params"].get("cursor", 0))
        last = number >= len(pages) - 1
        following = {"nextCursor": "0"} if self.script.get("endless") else {}
        self.reply(request, {"sessions": pages[number], **(following if last else {"nextCursor": str(number + 1)})})

    def fork(self, request: dict) -> None:
        remembered = self.remembered()
        session = self.script.get("fork_id", f"session-{len(remembered) + 1}")
        self.remember({**remembered, session: remembered.get(request["params"]["sessionId"], [])})
        self.reply(request, {"sessionId": session, "modes": self.script.get("modes"), **self.script.get("offers", {})})

    def load(self, request: dict) -> None:
        """Take a session up: play what the script says, repeat what is remembered, answer."""
        session = request["params"]["sessionId"]
        self.prompt = request
        loads = self.script.get("loads", [[]])
        steps = loads[min(self.loaded, len(loads) - 1)]
        self.loaded += 1
        failed = self.run(steps)
        remembered = self.remembered()
        if isinstance(failed, dict) or (self.script.get("remembers") and session not in remembered):
            error = {"code": -32002, "message": failed["fail"] if isinstance(failed, dict) else "no such session"}
            self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
            return
        for words in remembered.get(session, []) if request["method"] == "session/load" else ():
            for kind, text in (("user", words), ("agent", f"answer to {words}")):
                update = {"sessionUpdate": f"{kind}_message_chunk", "content": {"type": "text", "text": text}}
                self.notify("session/update", {"sessionId": session, "update": update})
        self.reply(request, {"modes": self.script.get("modes")})
        self.run(self.script.get("after_load", []))

    def remembered(self) -> dict:
        return json.loads(self.memory.read_text()) if self.memory.exists() else {}

    def remember(self, sessions: dict) -> None:
        self.memory.parent.mkdir(parents=True, exist_ok=True)
        self.memory.write_text(json.dumps(sessions))

    def session(self) -> str:
        """The session of the prompt or load that is being played."""
        return self.prompt["params"]["sessionId"] if self.script.get("remembers") else "session-1"

    def play(self, prompt: dict, steps: list) -> None:
        self.prompt = prompt
        if "tells_env" in self.script:
            text = os.environ.get(self.script["tells_env"], "no such variable")
            print(text, file=sys.stderr, flush=True)
            said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
            self.notify("session/update", {"sessionId": self.session(), "update": said})
        stop = self.run(steps)
        if any("answer" in step for step in steps):
            return
        if isinstance(stop, dict):
            self.send({"jsonrpc": "2.0", "id": prompt["id"], "error": {"code": -32603, "message": stop["fail"]}})
        else:
            self.reply(prompt, {"stopReason": stop or "end_turn", "usage": {"inputTokens": 3, "outputTokens": 4}})

    def run(self, steps: list) -> str | dict | None:
        for step in steps:
            match step:
                case {"update": update}:
                    made = [said["result"]["terminalId"] for said in self.answers.values()
                            if isinstance(said.get("result"), dict) and "terminalId" in said["result"]]  # fmt: skip
                    told = json.loads(json.dumps(update).replace("{terminal}", (made or [""])[-1]))
                    self.notify("session/update", {"sessionId": self.session(), "update": told})
                case {"ask": method, "id": ask_id}:
                    params = {"sessionId": self.session(), **step.get("params", {})}
                    self.asked.add(ask_id)
                    self.send({"jsonrpc": "2.0", "id": ask_id, "method": method, "params": params})
                    if not step.get("nowait"):
                        self.wait(lambda ask_id=ask_id: ask_id in self.answers)
                case {"hook": asked, "id": ask_id}:
                    self.asked.add(ask_id)
                    text = asked if isinstance(asked, str) else json.dumps({"session": self.session(), **asked})
                    command = json.loads(Path(os.environ["HOOKS"]).read_text())["command"]
                    hook = subprocess.Popen(
                        ["sh", "-c", "exec " + command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                    )
                    threading.Thread(target=self.hear_hook, args=(hook, text, ask_id), daemon=True).start()
                    if step.get("kill"):
                        self.wait_for_file("kill")
                        hook.kill()
                    if not step.get("nowait"):
                        self.wait(lambda ask_id=ask_id: ask_id in self.answers)
                case {"await": ask_id}:
                    self.wait(lambda ask_id=ask_id: ask_id in self.answers)
                case {"if": ask_id, "option": option, "do": inner}:
                    outcome = self.answers[ask_id].get("result", {}).get("outcome", {})
                    if outcome.get("optionId") == option and (stop := self.run(inner)):
                        return stop
                case {"notify": method}:
                    self.notify(method, step.get("params", {}))
                case {"write": [path, text]}:
                    Path(path).write_text(text)
                case {"spawn": text}:
                    child = subprocess.Popen(
                        ["bash", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
                    )
                    assert child.stdout is not None
                    child.stdout.readline()
                case {"until": "cancel"}:
                    self.wait(lambda: self.cancels > 0)
                case {"until": {"told": pipe}}:
                    with open(pipe, "rb", buffering=0) as told:
                        told.read(1)
                case {"until": "file"}:
                    self.wait_for_file("go")
                case {"exit": code}:
                    os._exit(code)
                case {"line": text}:
                    self.put(text)
                case {"answer": reason}:
                    self.reply(self.prompt, {"stopReason": reason})
                case {"quiet": _}:
                    self.wait(lambda: self.asked <= self.answers.keys())
                case {"stop": reason}:
                    return reason
                case {"fail": _}:
                    return step
                case _:
                    raise ValueError(f"no such step: {step}")
        return None

    def hear_hook(self, hook: subprocess.Popen, text: str, ask_id: object) -> None:
        """Wait for what the hook says; no answer is a refusal."""
        said, _ = hook.communicate(text)
        told = json.loads(said) if hook.returncode == 0 else {"exit": hook.returncode}
        option = "yes" if told.get("decision") == "allow" else "no"
        answer = {"id": ask_id, "result": {"outcome": {"outcome": "selected", "optionId": option}, "hook": told}}
        with self.changed:
            self.note(answer)
            self.answers[ask_id] = answer
            self.changed.notify_all()

    def wait_for_file(self, ending: str) -> None:
        while not os.path.exists(sys.argv[1].removesuffix("json") + ending):
            time.sleep(0.01)

    def wait(self, enough) -> None:
        with self.changed:
            self.changed.wait_for(enough)

    def notify(self, method: str, params: dict) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def reply(self, request: dict, result: dict) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def send(self, message: dict) -> None:
        self.put(json.dumps(message))

    def put(self, text: str) -> None:
        with self.changed:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def note(self, row: dict) -> None:
        self.log.write(json.dumps(row) + "\n")
        self.log.flush()


def main() -> None:
    script_path, log_path = sys.argv[1:3]
    with open(log_path, "a", encoding="utf-8") as log:
        Agent(json.loads(Path(script_path).read_text(encoding="utf-8")), log).serve()


if __name__ == "__main__":
    main()
