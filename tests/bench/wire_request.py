"""The approval request that the wire benches send: a card of middling size."""

from __future__ import annotations

from typing import Any

REQUEST: dict[str, Any] = {
    "approvalId": "0",
    "threadId": "t",
    "agentName": "Countersign",
    "toolCall": {
        "toolCallId": "c", "title": "npm run test", "kind": "execute", "category": "execute", "tool": "shell",
        "rawInput": {"command": "npm run test -- --watch", "timeout": 120},
    },
    "preview": {
        "kind": "command", "command": "npm run test -- --watch", "cwd": "/workspace",
        "parts": [
            {
                "text": "npm run test -- --watch", "verdict": "ask",
                "evidence": {"source": "default", "reason": "no rule matches"},
            }
        ],
    },
    "effects": [
        {
            "kind": "command", "resource": "npm run test -- --watch", "verdict": "ask",
            "evidence": {"source": "default", "reason": "no rule matches"},
        }
    ],
    "reason": "no rule matches `npm run test -- --watch`",
    "risks": ["runs a script of the workspace"],
    "options": [
        {"optionId": "allow_once", "name": "Allow", "kind": "allow_once", "scope": "call"},
        {"optionId": "reject_once", "name": "Deny", "kind": "reject_once", "scope": "call"},
    ],
    "digest": "sha256:" + "0" * 64,
    "createdAt": "2026-11-20T09:15:00Z",
}  # fmt: skip
