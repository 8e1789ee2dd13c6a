import Foundation
import Penstock

/// One request, its response or its error, and the exit status that tells which.
struct Fetch: Sendable {
    let options: FetchOptions
    let request: HTTPRequest

    func run() async throws(UsageError) -> Int32 {
        let store = try await options.cache?.open()
        let transport = options.transport.make()
        let recorder = try Recorder(archive: options.archive, report: options.report)
        let client = APIClient(configuration(store, recorder), transport: transport)
        let result = await Interrupts.cancelling { await sendAll(by: client) }
        await transport.shutdown()
        await store?.close()
        do throws(OutputFailure) {
            try await recorder?.finish()
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

    /// Sends the request as often as is asked, and tells how long that took.
    ///
    /// - Returns: what came of the last one.
    private func sendAll(by client: APIClient) async -> Result<APIResponse<Data>, APIError> {
        guard options.repetitions > 1 else { return await send(by: client) }
        let (started, bar) = (ContinuousClock.now, ProgressBar(total: options.repetitions))
        var summary = LatencySummary()
        var last = Result<APIResponse<Data>, APIError>.failure(APIError(.cancelled, stage: .transport))
        await withTaskGroup(of: (Duration, Result<APIResponse<Data>, APIError>).self) { group in
            var begun = min(options.concurrency, options.repetitions)
            for _ in 0..<begun { group.addTask { await timed(by: client) } }
            var done = 0
            for await (time, result) in group {
                done += 1
                summary.note(time, failure(of: result))
                last = result
                bar.draw(done)
                guard begun < options.repetitions, !Task.isCancelled else { continue }
                begun += 1
                group.addTask { await timed(by: client) }
            }
            bar.draw(options.repetitions)
        }
        for line in summary.lines(elapsed: ContinuousClock.now - started) { Console.note(line) }
        return last
    }

    private func timed(by client: APIClient) async -> (Duration, Result<APIResponse<Data>, APIError>) {
        let began = ContinuousClock.now
        let result = await send(by: client)
        return (ContinuousClock.now - began, result)
    }

    private func failure(of result: Result<APIResponse<Data>, APIError>) -> String? {
        switch result {
        case .failure(let error): error.kind.name
        case .success(let response): response.http.status >= 400 ? "status \(response.http.status)" : nil
        }
    }

    private func configuration(_ store: (any CacheStore)?, _ recorder: Recorder?) -> APIClient.Configuration {
        var configuration = APIClient.Configuration(services: [])
        configuration.headers = [.userAgent: "penstockctl/\(PenstockVersion.current)"]
        configuration.options = callOptions
        configuration.cache = store.map(CacheChoice.store) ?? .none
        if options.isVerbose { configuration.sinks = [Trace()] }
        if let recorder { configuration.sinks.append(recorder.sink) }
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
