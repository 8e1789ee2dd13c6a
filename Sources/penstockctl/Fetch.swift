import Foundation
import Penstock

/// One request, its response or its error, and the exit status that tells which.
struct Fetch: Sendable {
    let options: FetchOptions
    let request: HTTPRequest

    func run() async throws(UsageError) -> Int32 {
        let store = try await options.cache?.open()
        let cookies = try await cookieStore()
        let transport = options.transport.make()
        let recorder = try Recorder(
            archive: options.archive, report: options.report, contents: options.contents)
        let client = APIClient(configuration(store, cookies, recorder), transport: transport)
        let outcome = await Interrupts.cancelling { await sendAll(by: client) }
        await transport.shutdown()
        await store?.close()
        // The answer comes first: what else cannot be written does not lose it.
        let statuses = [
            await status { () throws(OutputFailure) in try finish(outcome) },
            await status { () async throws(OutputFailure) in
                try await recorder?.finish()
                return ExitCode.success
            },
            await status { () async throws(OutputFailure) in
                try await keep(cookies)
                return ExitCode.success
            },
        ]
        return statuses.contains(ExitCode.output) ? ExitCode.output : statuses[0]
    }

    private func status(_ step: () async throws(OutputFailure) -> Int32) async -> Int32 {
        do throws(OutputFailure) {
            return try await step()
        } catch {
            Console.note(error.message)
            return ExitCode.output
        }
    }

    private func send(by client: APIClient) async -> Result<APIResponse<Data>, APIError> {
        let call = client.start(FetchCall(request: request))
        // Many calls at a time have a bar of their own, and a trace is not to be written over.
        if TransferBar.isShown, options.repetitions == 1, !options.isVerbose { await show(call) }
        return await call.result
    }

    /// Shows how far the call is, until it ends.
    private func show(_ call: Call<Data>) async {
        let bar = TransferBar()
        do throws(APIError) {
            for try await case .progress(let progress) in call.updates { bar.draw(progress) }
        } catch {
            // The result tells of it.
        }
        bar.remove()
    }

    /// What came of all the calls.
    private struct Outcome: Sendable {
        var last: Result<APIResponse<Data>, APIError>
        /// The exit status of the first call that failed; `nil` where none has.
        var failure: Int32?
    }

    /// Sends the request as often as is asked, and tells how long that took.
    private func sendAll(by client: APIClient) async -> Outcome {
        guard options.repetitions > 1 else { return Outcome(last: await send(by: client)) }
        let (started, bar) = (ContinuousClock.now, ProgressBar(total: options.repetitions))
        var summary = LatencySummary()
        var outcome = Outcome(last: .failure(APIError(.cancelled, stage: .transport)))
        await withTaskGroup(of: (Duration, Result<APIResponse<Data>, APIError>).self) { group in
            var begun = min(options.concurrency, options.repetitions)
            for _ in 0..<begun { group.addTask { await timed(by: client) } }
            var done = 0
            for await (time, result) in group {
                done += 1
                summary.note(time, failure(of: result))
                outcome.last = result
                outcome.failure = outcome.failure ?? Self.failureStatus(of: result)
                bar.draw(done)
                guard begun < options.repetitions, !Task.isCancelled else { continue }
                begun += 1
                group.addTask { await timed(by: client) }
            }
            bar.draw(options.repetitions)
        }
        for line in summary.lines(elapsed: ContinuousClock.now - started) { Console.note(line) }
        return outcome
    }

    private static func failureStatus(of result: Result<APIResponse<Data>, APIError>) -> Int32? {
        switch result {
        case .failure(let error): ExitCode.of(error.kind)
        case .success(let response): response.http.status >= 400 ? ExitCode.httpFailure : nil
        }
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

    private func configuration(
        _ store: (any CacheStore)?, _ cookies: FileCookieStore?, _ recorder: Recorder?
    ) -> APIClient.Configuration {
        var configuration = APIClient.Configuration(services: [
            FetchCall.service(of: request.url, signer: options.signer)
        ])
        configuration.environment = .production
        // The one endpoint has properties that are no parameters.
        configuration.checksEndpoints = false
        if let cookies { configuration.cookies = cookies }
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

// MARK: Cookies

extension Fetch {
    private func cookieStore() async throws(UsageError) -> FileCookieStore? {
        guard let path = options.cookies else { return nil }
        do throws(CookieFileError) {
            return try await FileCookieStore.open(
                URL(fileURLWithPath: path), suffixes: PlatformPublicSuffixes.list)
        } catch {
            throw UsageError("--cookies: \(Self.text(of: error))")
        }
    }

    private func keep(_ cookies: FileCookieStore?) async throws(OutputFailure) {
        do throws(CookieFileError) {
            try await cookies?.flush()
        } catch {
            throw OutputFailure("--cookies: \(Self.text(of: error))")
        }
    }

    private static func text(of error: CookieFileError) -> String {
        switch error {
        case .newerVersion: "a later version has written the file, which is left as it is"
        case .foreignFile: "this is no file of cookies of Penstock's, and is left as it is"
        case .inUse: "another program has the file"
        case .unusableFile(let reason): reason
        }
    }
}

// MARK: What comes out

extension Fetch {
    private func finish(_ outcome: Outcome) throws(OutputFailure) -> Int32 {
        switch outcome.last {
        case .success(let response):
            try save(response.data)
            try Console.out(printed(response))
            return exitCode(for: response.http.status, failure: outcome.failure)
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

    /// - Parameter failure: the exit status of another call that failed.
    private func exitCode(for status: Int, failure: Int32?) -> Int32 {
        guard options.failsOnStatus else { return ExitCode.success }
        guard status >= 400 else { return failure ?? ExitCode.success }
        Console.note("the status is \(status)")
        return ExitCode.httpFailure
    }
}
