#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// What only Apple's systems report.
    extension URLSessionBridge {
        @objc(URLSession:task:needNewBodyStream:)
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(of: task)?.openBodyStream())
        }

        @objc(URLSession:task:didFinishCollectingMetrics:)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            guard let transaction = metrics.transactionMetrics.last else { return }
            exchange(of: task)?.didMeasure { timings, connection, head in
                transaction.fill(&timings)
                connection.isReused = transaction.isReusedConnection
                connection.remoteAddress = transaction.remoteAddress
                connection.remotePort = transaction.remotePort
                connection.bytesReceived = Int(clamping: transaction.countOfResponseBodyBytesReceived)
                if let name = transaction.networkProtocolName { head?.version = HTTPVersion(rawValue: name) }
            }
        }
    }

    extension URLSessionTaskTransactionMetrics {
        fileprivate func fill(_ timings: inout Timings) {
            timings.nameLookup = elapsed(domainLookupEndDate)
            timings.connected = isReusedConnection ? .zero : elapsed(connectEndDate)
            timings.secured = elapsed(secureConnectionEndDate)
            timings.requestStart = elapsed(requestStartDate)
            timings.responseStart = elapsed(responseStartDate)
        }

        private func elapsed(_ date: Date?) -> Duration? {
            guard let date, let start = fetchStartDate else { return nil }
            return .seconds(date.timeIntervalSince(start))
        }
    }

    extension URLSessionExchange {
        /// Opens the body for one sending of it; a body that cannot be read ends the exchange.
        fileprivate func openBodyStream() -> InputStream? {
            let opened = URLSessionBodyFeed.open(body) { [weak self] in
                self?.fail(.requestBody, "the body could not be read")
            }
            guard let (input, feed) = opened else { return nil }
            self.feed(by: feed)
            return input
        }
    }
#endif
