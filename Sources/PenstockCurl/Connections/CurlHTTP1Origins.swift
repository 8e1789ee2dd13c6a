#if os(Linux)
    import Foundation
    import PenstockCore

    /// Origins that have refused a request for being made over HTTP/2 (`HTTP_1_1_REQUIRED`, RFC 9113 §7), each as one user sees it by one
    /// way. What follows is made over HTTP/1.1: over HTTP/2 what may not be sent twice would be refused each time.
    struct CurlHTTP1Origins {
        private struct Key: Hashable {
            let isolation: IsolationKey
            let origin: HTTPURL.Origin

            init(_ request: TransportRequest) {
                (isolation, origin) = (request.isolation, request.request.url.origin)
            }
        }

        /// Beyond so many the oldest is forgotten, which then has to say so anew.
        static let most = 256

        private var known: Set<Key> = []
        /// The oldest first.
        private var order: [Key] = []

        func contains(_ request: TransportRequest) -> Bool {
            !known.isEmpty && known.contains(Key(request))
        }

        mutating func insert(_ request: TransportRequest) {
            let key = Key(request)
            guard known.insert(key).inserted else { return }
            order.append(key)
            if order.count > Self.most { known.remove(order.removeFirst()) }
        }

        /// Forgets what was learned for an identity.
        mutating func forget(_ identity: String) {
            order.removeAll { $0.isolation.identity.isWritten(as: identity) }
            known = Set(order)
        }
    }

    extension CurlLoop {
        func wantsHTTP1(_ request: TransportRequest) {
            state.http1Origins.insert(request)
        }
    }
#endif
