#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// Foundation's background sessions: one for each partition, so that no two users share a connection. A task is described by
    /// the key of what was handed over.
    final class URLSessionBackground: NSObject, BackgroundSession, URLSessionDataDelegate, Sendable {
        private struct State {
            var tell: (@Sendable (BackgroundEvent) -> Void)?
            var sessions: [String: URLSession] = [:]
            /// What has come of replies, by key.
            var content: [String: Data] = [:]
        }

        private let identifier: String
        private let trust: TrustPolicy
        private let isDiscretionary: Bool
        private let allowsCellularAccess: Bool
        private let state = Locked(State())

        init(identifier: String, trust: TrustPolicy, isDiscretionary: Bool, allowsCellularAccess: Bool) {
            self.identifier = identifier
            self.trust = trust
            self.isDiscretionary = isDiscretionary
            self.allowsCellularAccess = allowsCellularAccess
        }

        // MARK: BackgroundSession

        /// No client certificates: by Apple's documentation a background session asks for none of them once the app is suspended, and
        /// the system could not read one then.
        let capabilities = URLSessionPlatform.capabilities.intersection([.trustPolicy, .pinning])

        func open(
            _ partitions: Set<String>, _ tell: @escaping @Sendable (BackgroundEvent) -> Void
        ) async -> [String: Int] {
            state.withLock { $0.tell = tell }
            var running: [String: Int] = [:]
            for partition in partitions {
                let tasks = await self.tasks(of: session(of: partition))
                running.merge(tasks) { old, _ in old }
            }
            return running
        }

        private func tasks(of session: URLSession) async -> [String: Int] {
            await withCheckedContinuation { continuation in
                session.getAllTasks { tasks in
                    let busy = tasks.filter { $0.state != .completed }
                    let sent = busy.compactMap { task in
                        task.taskDescription.map { ($0, Int(clamping: task.countOfBytesSent)) }
                    }
                    continuation.resume(returning: Dictionary(sent) { first, _ in first })
                }
            }
        }

        func begin(_ upload: BackgroundUpload) throws(TransportError) {
            let request = try URLSessionRequest.make(TransportRequest(upload.request))
            let task = session(of: upload.key.partition).uploadTask(with: request, fromFile: upload.file)
            task.taskDescription = upload.key.text
            task.resume()
        }

        func cancel(_ key: String) {
            for session in state.withLock({ Array($0.sessions.values) }) {
                session.getAllTasks { tasks in
                    for task in tasks where task.taskDescription == key { task.cancel() }
                }
            }
        }

        func close() {
            let sessions = state.withLock { state in
                state.tell = nil
                defer { state.sessions = [:] }
                return Array(state.sessions.values)
            }
            for session in sessions { session.finishTasksAndInvalidate() }
        }

        private func session(of partition: String) -> URLSession {
            state.withLock { state in
                if let known = state.sessions[partition] { return known }
                let new = URLSession(configuration: configuration(of: partition), delegate: self, delegateQueue: nil)
                state.sessions[partition] = new
                return new
            }
        }

        private func configuration(of partition: String) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.background(withIdentifier: "\(identifier)-\(partition)")
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.isDiscretionary = isDiscretionary
            configuration.sessionSendsLaunchEvents = true
            configuration.allowsCellularAccess = allowsCellularAccess
            URLSessionPlatform.configure(configuration, for: trust)
            return configuration
        }

        private func tell(_ event: BackgroundEvent) {
            state.withLock(\.tell)?(event)
        }

        // MARK: URLSessionDelegate

        @objc(URLSessionDidFinishEventsForBackgroundURLSession:)
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            let partition = state.withLock { state in state.sessions.first { $0.value === session }?.key }
            if let partition { tell(.caughtUp(partition: partition)) }
        }

        // MARK: URLSessionTaskDelegate

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            guard let key = task.taskDescription else { return }
            tell(.sent(key, Int(clamping: totalBytesSent)))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let (disposition, credential) = URLSessionPlatform.answer(challenge, for: task, of: nil, trust: trust)
            completionHandler(disposition, credential)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let key = task.taskDescription else { return }
            let content = state.withLock { $0.content.removeValue(forKey: key) } ?? Data()
            tell(.ended(key, outcome(of: task, content, error)))
        }

        private func outcome(
            of task: URLSessionTask, _ content: Data, _ error: (any Error)?
        ) -> Result<HTTPResponse, TransportError> {
            let response = task.response as? HTTPURLResponse
            if let error {
                let kind = URLSessionErrors.kind(of: error, isAnswered: response != nil)
                let isSent = task.countOfBytesSent > 0 || !URLSessionErrors.isBeforeSending(kind)
                return .failure(
                    TransportError(
                        kind, sendState: response != nil ? .answered : isSent ? .maybeProcessed : .unsent,
                        message: error.localizedDescription))
            }
            guard let response, task.originalRequest?.url == response.url else {
                let message = "the reply is not that of the server which was asked"
                return .failure(TransportError(.protocolViolation, sendState: .maybeProcessed, message: message))
            }
            var reply = URLSessionResponse.head(of: response)
            reply.body = content
            return .success(reply)
        }

        // MARK: URLSessionDataDelegate

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            guard let key = dataTask.taskDescription else { return }
            state.withLock { state in
                let room = BackgroundTransfers.maximumReply - (state.content[key]?.count ?? 0)
                if room > 0 { state.content[key, default: Data()].append(data.prefix(room)) }
            }
        }
    }
#endif
