#if canImport(Darwin)
    import Dispatch
    import Network
    import PenstockCore

    #if os(watchOS)
        extension Reachability {
            /// This machine's own, of which watchOS tells an app nothing: by Apple's technical note TN3135 the Network framework
            /// says of any but a few kinds of apps that there is no way, although requests find one. So the status is never known.
            public static let system: Reachability = {
                let reachability = Reachability()
                reachability.fail("watchOS tells apps nothing of the network")
                return reachability
            }()
        }
    #else
        extension Reachability {
            /// This machine's own, by the Network framework. It is watched from the first use to the end of the process. On watchOS,
            /// which tells apps nothing, it is never known.
            public static let system: Reachability = {
                let reachability = Reachability()
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { reachability.update(NetworkStatus($0)) }
                monitor.start(queue: DispatchQueue(label: "penstock.reachability"))
                // Kept for ever: a monitor that goes stops.
                _ = Unmanaged.passRetained(monitor)
                return reachability
            }()
        }
    #endif

    extension NetworkStatus {
        private static let kinds: [(NWInterface.InterfaceType, Interface)] = [
            (.wifi, .wifi), (.cellular, .cellular), (.wiredEthernet, .wired), (.other, .other),
        ]

        /// A path that needs a connection to be made, such as a VPN on demand, is a way: sending makes it.
        init(_ path: NWPath) {
            let isReachable = path.status != .unsatisfied
            let interfaces = Self.kinds.filter { path.usesInterfaceType($0.0) }.map(\.1)
            self.init(
                isReachable: isReachable, interfaces: isReachable ? Set(interfaces) : [],
                isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        }
    }
#endif
