#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport

    /// The requests themselves, and what they must bring.
    struct Attempt: Sendable {
        let transport: CurlTransport
        let sites: Sites

        // MARK: Requests

        func request(
            _ site: HTTPURL, _ target: String, method: HTTPMethod = .get, body: HTTPBody = .none,
            proxy: ProxyPolicy = .none
        ) throws(Trouble) -> TransportRequest {
            guard let url = try? site.resolving(target) else { throw .wrong("no URL") }
            let seconds = Duration.seconds(2)
            return TransportRequest(
                HTTPRequest(method: method, url: url, body: body),
                timeouts: Timeouts(connect: seconds, firstByte: seconds, idle: seconds, total: .seconds(4)),
                isolation: IsolationKey(trust: site.scheme == .https ? sites.trust : .system, proxy: proxy))
        }

        func expect(_ request: TransportRequest, _ content: Data) async throws(Trouble) {
            let response = try await performed(request).response
            guard response.status == 200 else { throw .wrong("status \(response.status)") }
            guard response.body == content else { throw .wrong("\(response.body.count) bytes that are wrong") }
        }

        private func performed(_ request: TransportRequest) async throws(Trouble) -> TransportResponse {
            do {
                return try await transport.perform(request)
            } catch {
                throw .transport(error)
            }
        }

        // MARK: What is tried

        func get(_ site: HTTPURL, _ count: Int) async throws(Trouble) {
            try await expect(try request(site, "/bytes/\(count)"), Self.content(count))
        }

        func echo(_ count: Int) async throws(Trouble) {
            let content = Self.content(count)
            try await expect(try request(sites.clear, "/echo", method: .post, body: .bytes(content)), content)
        }

        func stream(
            _ site: HTTPURL, _ count: Int, meanwhile: () async throws(Trouble) -> Void = {}
        ) async throws(Trouble) {
            var received = Data()
            do {
                let stream = try await transport.open(try request(site, "/bytes/\(count)"))
                try await meanwhile()
                while let piece = try await stream.content.next() { received += piece }
            } catch let error as TransportError {
                guard Self.content(count).starts(with: received) else { throw .wrong("wrong bytes before a failure") }
                throw .transport(error)
            } catch let error as Trouble {
                throw error
            } catch {
                throw .wrong("\(error)")
            }
            guard received == Self.content(count) else { throw .wrong("\(received.count) bytes that are wrong") }
        }

        /// At a time, so that they go over one connection.
        func getThree(_ site: HTTPURL) async throws(Trouble) {
            let verdicts = await withTaskGroup(of: Trouble?.self) { group in
                for count in [10, 5_000, 60_000] {
                    group.addTask {
                        do throws(Trouble) {
                            try await get(site, count)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: [Trouble?]()) { $0.append($1) }
            }
            let troubles = verdicts.compactMap { $0 }
            for case .wrong(let what) in troubles { throw .wrong(what) }
            if let first = troubles.first { throw first }
        }

        /// More than is held for a reader that is late, so that it is held back while others go on beside it.
        func pause() async throws(Trouble) {
            try await stream(sites.http2, 1_200_000) { () async throws(Trouble) in try await getThree(sites.http2) }
        }

        func cancel() async throws(Trouble) {
            let exchange = try request(sites.clear, "/hold")
            let canceller = Task {
                try? await Task.sleep(for: .milliseconds(3))
                exchange.control.cancel()
            }
            do throws(Trouble) {
                _ = try await performed(exchange)
            } catch {
                await canceller.value
                if case .transport(let failure) = error, failure.kind == .cancelled { return }
                throw error
            }
            throw .wrong("an answer that the server does not give")
        }

        func redirect() async throws(Trouble) {
            var configuration = APIClient.Configuration(services: [])
            configuration.options.cleartext = .loopback
            configuration.cache = .none
            let client = APIClient(configuration, transport: transport)
            let exchange = try request(sites.clear, "/redirect")
            do {
                let options = CallOptions.with { $0.timeouts = exchange.timeouts }
                let response = try await client.send(exchange.request, options: options)
                guard response.value == Self.content(100) else { throw Trouble.wrong("wrong bytes after a redirect") }
            } catch let error as APIError {
                throw .call(error)
            } catch {
                throw .wrong("\(error)")
            }
        }

        /// The name is known to the proxy alone, which asks for credentials.
        func getByProxy(_ count: Int) async throws(Trouble) {
            guard let origin = try? HTTPURL("http://shop.invalid/") else { throw .wrong("no URL") }
            let proxy = ProxyPolicy.http(sites.clear, credentials: .init(user: "me", password: "secret"))
            do throws(Trouble) {
                try await expect(try request(origin, "/bytes/\(count)", proxy: proxy), Self.content(count))
            } catch {
                guard case .transport(let failure) = error, failure.kind == .unreachable(.proxyAuthentication) else {
                    throw error
                }
                throw .wrong("the proxy was asked without credentials")
            }
        }

        func preconnect() async throws(Trouble) {
            let exchange = try request(sites.clear, "/bytes/10")
            do {
                try await transport.preconnect(exchange)
            } catch {
                throw .transport(error)
            }
        }

        private static func content(_ count: Int) -> Data { sampleBytes(seed: UInt64(count), count: count) }
    }
#endif
