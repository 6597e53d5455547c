"""What leaves is the same everywhere, and whatever comes back ends in time."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import subprocess
import time
import tracemalloc
from pathlib import Path

import pytest

from geocorgi.device.network.door import Limits, network
from geocorgi.errors import AnswerRefused, Unreachable
from tests.device.network.loopback import answer, read_head, serving

SHORT = Limits(connect_seconds=0.5, read_seconds=0.3, answer_seconds=1)


def got(server, most_bytes=1000, limits=SHORT, proxy=None, path="v1/map"):
    with network(proxy, limits) as get:
        return get(server.url + path, most_bytes)


def test_what_leaves_is_the_address_and_four_fixed_headers():
    with serving(answer(b"hello")) as server:
        assert got(server).content == b"hello"
    assert server.requests == [
        b"GET /v1/map HTTP/1.1\r\n"
        b"Host: 127.0.0.1:%d\r\n"
        b"User-Agent: geocorgi\r\n"
        b"Accept: */*\r\n"
        b"Accept-Encoding: gzip\r\n\r\n" % server.port
    ]


def test_nothing_that_a_server_chose_ever_goes_back():
    chosen = ("Set-Cookie: id=you; Path=/", 'ETag: "you"', "Last-Modified: yesterday",
              "Alt-Svc: h3=you", "Content-Location: /you", "WWW-Authenticate: Basic realm=you",
              "Accept-CH: Sec-CH-UA", "Link: </you>; rel=preconnect")  # fmt: skip
    with serving(answer(b"hello", *chosen)) as server, network(None, SHORT) as get:
        for _ in range(3):
            get(server.url, 1000)
    assert len(server.requests) == 3
    assert len(set(server.requests)) == 1
    assert b"you" not in server.requests[0]


def test_the_users_files_and_environment_add_nothing(tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with serving(answer(b"hello")) as server:
        got(server)
    assert b"uthorization" not in server.requests[0]


def test_a_compressed_answer_is_unpacked():
    with serving(answer(gzip.compress(b"hello"), "Content-Encoding: gzip")) as server:
        assert got(server).content == b"hello"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_nobody_is_sent_elsewhere(status):
    with serving(answer(b"never")) as elsewhere:
        away = answer(b"", f"Location: {elsewhere.url}", status=status)
        with serving(away) as server, pytest.raises(AnswerRefused, match="sends elsewhere"):
            got(server)
        assert elsewhere.requests == []


def test_an_answer_that_says_or_is_too_large_is_refused():
    with serving(answer(b"x" * 1001)) as server, pytest.raises(AnswerRefused, match="larger than"):
        got(server)


def test_an_endless_answer_ends_at_the_first_byte_too_many():
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:  # until the device hangs up
            connection.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")

    tracemalloc.start()
    with serving(endless) as server, pytest.raises(AnswerRefused, match="larger than"):
        got(server, most_bytes=2_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000


def test_a_bomb_over_a_real_socket_is_refused_in_little_memory():
    bomb = gzip.compress(bytes(100_000_000), 9)
    tracemalloc.start()
    with serving(answer(bomb, "Content-Encoding: gzip")) as server:
        tracemalloc.reset_peak()
        with pytest.raises(AnswerRefused, match="larger than"):
            got(server, most_bytes=1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(bomb) + 6_000_000


def test_an_errors_long_page_is_not_read_to_its_end():
    with serving(answer(b"x" * 100_000, status="404 Not Found")) as server:
        found = got(server)
    assert (found.status, found.content) == (404, b"")


def test_a_truncated_answer_is_not_an_answer():
    with serving(answer(b"hel", length=5)) as server, pytest.raises(Unreachable, match="broke"):
        got(server)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_no_answer(nonsense):
    with serving(nonsense) as server, pytest.raises(Unreachable):
        got(server)


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with network(None, SHORT) as get, pytest.raises(Unreachable, match="cannot be reached"):
        get(f"http://127.0.0.1:{port}/", 1000)


def dripping(pieces):
    """Return a script that sends one piece twenty times a second, so that no read times out."""

    def script(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)

    return script


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(
    "script",
    [
        dripping([b""] * 40),
        dripping([bytes([letter]) for letter in HEAD] + [b"x"] * 100),
        dripping([HEAD] + [b"x"] * 100),
        dripping([b"HTTP/1.1 103 Early Hints\r\n\r\n"] * 40),
    ],
    ids=["says nothing", "drips headers", "drips the body", "promises for ever"],
)
def test_however_slow_a_server_is_the_end_comes_in_time(script):
    began = time.monotonic()
    with serving(script) as server, network(None, SHORT) as get:
        with pytest.raises(Unreachable, match="in time"):
            get(server.url, 1000)
        took = time.monotonic() - began
    assert took < 5  # of a bound of 1 s: that it ends, not how fast


def test_it_works_where_an_event_loop_is_running():
    async def in_a_notebook(server) -> bytes:
        return got(server).content

    with serving(answer(b"hello")) as server:
        assert asyncio.run(in_a_notebook(server)) == b"hello"


def socks5(connection: socket.socket, asked: list[bytes]) -> None:
    """Play a SOCKS 5 proxy that notes whom it was asked for, and answers in their place."""
    connection.sendall(b"\x05\x00")
    asked.append(connection.recv(1000))
    connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x01")
    asked.append(read_head(connection))
    connection.sendall(answer(b"through the dark"))


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_a_socks_proxy_is_told_the_name_which_nobody_here_looks_up(scheme):
    asked: list[bytes] = []
    greeting = b"\x05\x01\x00"
    with (
        serving(lambda connection: socks5(connection, asked), until=greeting) as proxy,
        network(f"{scheme}://127.0.0.1:{proxy.port}", SHORT) as get,
    ):
        found = get("http://geo.invalid/v1/map", 1000)
    assert found.content == b"through the dark"
    assert asked[0] == b"\x05\x01\x00\x03\x0bgeo.invalid\x00\x50"
    assert asked[1].startswith(b"GET /v1/map HTTP/1.1\r\nHost: geo.invalid\r\n")


def test_an_http_proxy_carries_the_request_and_a_dead_one_is_not_passed_by():
    with serving(answer(b"hello")) as server:
        with serving(answer(b"by proxy")) as proxy:
            assert got(server, proxy=proxy.url).content == b"by proxy"
        assert proxy.requests[0].startswith(b"GET " + server.url.encode() + b"v1/map HTTP/1.1")
        with pytest.raises(Unreachable):
            got(server, proxy=proxy.url)
        assert server.requests == []


def test_a_proxy_that_refuses_is_an_error():
    with (
        serving(answer(b"", status="403 Forbidden")) as proxy,
        network(proxy.url, SHORT) as get,
        pytest.raises(Unreachable, match="proxy"),
    ):
        get("https://geo.invalid/v1/map", 1000)
    assert proxy.requests[0].startswith(b"CONNECT geo.invalid:443 HTTP/1.1")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    """Lend a certificate of this very machine, with its key, that nobody vouches for."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", "key.pem", "-out", "certificate.pem", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder


def over_tls(folder: Path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")

    def script(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            read_head(secure)
            secure.sendall(answer(b"hello"))

    return script


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_only_a_certificate_of_the_right_name_that_somebody_vouches_for_is_believed(
    certificate, host, monkeypatch
):
    def hello() -> bytes:
        with serving(over_tls(certificate), until=b"") as server, network(None, SHORT) as get:
            return get(f"https://{host}:{server.port}/", 1000).content

    with pytest.raises(AnswerRefused, match="certificate"):
        hello()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    if host == "localhost":
        assert hello() == b"hello"
    else:
        with pytest.raises(AnswerRefused, match="certificate"):
            hello()


def test_a_handshake_that_never_ends_ends():
    with (
        serving(lambda _: time.sleep(1), until=b"") as server,
        network(None, SHORT) as get,
        pytest.raises(Unreachable),
    ):
        get(server.url.replace("http:", "https:"), 1000)
