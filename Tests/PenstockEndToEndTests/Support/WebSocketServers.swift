import Foundation

/// An echo over WebSockets by Python's `websockets`, and nginx as a proxy before it.
struct WebSocketServers: Sendable {
    /// The echo itself, `http://…`. No URL here ends with a slash.
    let direct: String
    /// The same by way of nginx.
    let proxied: String
    /// The same by way of nginx, with TLS.
    let secure: String
    /// What a client must trust to reach ``secure``.
    let certificateAuthority: URL

    /// The running servers; every caller gets the same ones.
    static func shared() async throws -> WebSocketServers { try await running.value }

    private static let running = Task {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try start() }) }
        }
    }

    private static func start() throws -> WebSocketServers {
        guard let python = Programs.python else { throw HarnessError("websockets is missing: run `make setup`") }
        let ready = UUID().uuidString
        let echo = try ServerProcess.start(python, ports: 1) { folder, ports in
            let script = folder.appendingPathComponent("echo.py")
            try Data(echoScript.utf8).write(to: script)
            return (
                arguments: [script.path, "\(ports[0])", ready],
                isReady: { Loopback.get("/ready", port: ports[0])?.contains(ready) == true }
            )
        }
        var authority = URL(fileURLWithPath: "/")
        let proxy = try Nginx.start(ports: 2) { folder, ports, ready in
            let certificates = try Certificates(in: folder)
            authority = certificates.authority.certificate
            return configuration(to: echo[0], ports, certificates.valid, ready)
        }
        return WebSocketServers(
            direct: "http://127.0.0.1:\(echo[0])", proxied: "http://127.0.0.1:\(proxy[0])",
            secure: "https://localhost:\(proxy[1])", certificateAuthority: authority)
    }

    private static let echoScript = """
        import asyncio, http, sys
        from websockets.asyncio.server import serve

        async def echo(socket):
            async for message in socket:
                if message == "close":
                    await socket.close(4001, "as you wish")
                elif message == "pieces":
                    await socket.send(str(number) for number in range(100))
                else:
                    await socket.send(message)

        def answer(connection, request):
            if request.path == "/ready":
                return connection.respond(http.HTTPStatus.OK, sys.argv[2])

        async def main():
            async with serve(echo, "127.0.0.1", int(sys.argv[1]), subprotocols=["chat"], max_size=None,
                             process_request=answer):
                await asyncio.get_running_loop().create_future()

        asyncio.run(main())
        """

    private static func configuration(
        to echo: UInt16, _ ports: [UInt16], _ identity: Certificates.Identity, _ ready: String
    ) -> String {
        let location = """
            location / {
                proxy_pass http://127.0.0.1:\(echo);
                proxy_http_version 1.1;
                proxy_set_header Upgrade $http_upgrade;
                proxy_set_header Connection $connection_upgrade;
            }
            """
        return """
            access_log off;
            map $http_upgrade $connection_upgrade { default upgrade; "" close; }
            server { listen 127.0.0.1:\(ports[0]); location = /ready { return 200 "\(ready)"; } \(location) }
            server {
                listen 127.0.0.1:\(ports[1]) ssl http2;
                ssl_certificate \(identity.certificate.path);
                ssl_certificate_key \(identity.key.path);
                \(location)
            }
            """
    }

    /// A client that checks an echo of ours, and prints `all good`.
    static let clientScript = """
        import asyncio, os, sys
        from websockets.asyncio.client import connect

        async def main():
            for compression in (None, "deflate"):
                async with connect(sys.argv[1], compression=compression, subprotocols=["chat"], max_size=None) as socket:
                    assert socket.subprotocol == "chat"
                    for size in (0, 1, 125, 126, 65535, 65536, 1000000):
                        for message in (os.urandom(size), "é" * size):
                            await socket.send(message)
                            assert await socket.recv() == message
                    await socket.send("ab" for _ in range(100))
                    assert await socket.recv() == "ab" * 100
                    await (await socket.ping())
                assert socket.close_code == 1000, socket.close_code
            print("all good")

        asyncio.run(main())
        """
}
