"""Which addresses a server may listen on."""

import ipaddress
import socket

from mnemolog.errors import NotAllowedError, StorageIOError

_BACKLOG = 128


def bind(host: str, port: int) -> socket.socket:
    """A port to listen on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        # Python puts the address behind the reason once more.
        reason = (error.strerror or str(error)).partition(" (while ")[0]
        raise StorageIOError(
            f"Cannot listen on {host}, port {port}: {reason}.",
            advice="Choose another with --host and --port.",
        ) from error


def check_host(host: str, *, has_token: bool, behind_tls: bool) -> None:
    """Refuse every address but this machine's own, unless there is a token and TLS in front."""
    if is_loopback(host) or (has_token and behind_tls):
        return
    raise NotAllowedError(
        f"{host!r:.80} can be reached from other machines, and this server does not encrypt.",
        advice="Use 127.0.0.1; or, behind a proxy that speaks TLS, start it once on 127.0.0.1 so "
        "that there is a token, then say so: `server.behind_tls` in config.toml for `serve`, "
        "--behind-tls for `mcp`; and give --allow-host.",
    )


def written(host: str) -> str:
    """An address as it stands before a port."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
