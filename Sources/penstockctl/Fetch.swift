import Foundation
import Penstock

/// One request, its response or its error, and the exit status that tells which.
struct Fetch: Sendable {
    let options: FetchOptions
    let request: HTTPRequest

    func run() async throws(UsageError) -> Int32 {
        let store = try await options.cache?.open()
        let transport = options.transport.make()
        let client = APIClient(configuration(store), transport: transport)
        let result = await Interrupts.cancelling { await send(by: client) }
        await transport.shutdown()
        await store?.close()
        do throws(OutputFailure) {
            return try finish(result)
        } catch {
            Console.note(error.message)
            return ExitCode.output
        }
    }

    private func send(by client: APIClient) async -> Result<APIResponse<Data>, APIError> {
        do throws(APIError) {
            return .success(try await client.send(request))
        } catch {
            return .failure(error)
        }
    }

    private func configuration(_ store: (any CacheStore)?) -> APIClient.Configuration {
        var configuration = APIClient.Configuration(services: [])
        configuration.headers = [.userAgent: "penstockctl/\(PenstockVersion.current)"]
        configuration.options = callOptions
        configuration.cache = store.map(CacheChoice.store) ?? .none
        if options.isVerbose { configuration.sinks = [Trace()] }
        return configuration
    }

    /// Plain `http` is allowed, since the user names the URL.
    private var callOptions: CallOptions {
        .with { call in
            call.cleartext = .everywhere
            call.cache = options.policy
            call.redirects = options.followsRedirects ? .follow : .never
            call.timeouts = options.timeout.map(Timeouts.total) ?? Timeouts()
            call.trust = options.trust
            call.resolver = options.resolver
        }
    }
}

// MARK: What comes out

extension Fetch {
    private func finish(_ result: Result<APIResponse<Data>, APIError>) throws(OutputFailure) -> Int32 {
        switch result {
        case .success(let response):
            try save(response.data)
            try Console.out(printed(response))
            return exitCode(for: response.http.status)
        case .failure(let error):
            if options.isJSON { try Console.out(FetchReport(error).json()) }
            Console.note(FetchReport.text(of: error))
            return ExitCode.of(error.kind)
        }
    }

    private func save(_ body: Data) throws(OutputFailure) {
        do throws(OutputFailure) {
            try options.output?.write(body)
        } catch {
            if options.isJSON { try Console.out(FetchReport(error).json()) }
            throw error
        }
    }

    private func printed(_ response: APIResponse<Data>) throws(OutputFailure) -> Data {
        if options.isJSON { return try FetchReport(response, withBody: options.output == nil).json() }
        return options.output == nil ? response.data : Data()
    }

    private func exitCode(for status: Int) -> Int32 {
        guard options.failsOnStatus, status >= 400 else { return ExitCode.success }
        Console.note("the status is \(status)")
        return ExitCode.httpFailure
    }
}
