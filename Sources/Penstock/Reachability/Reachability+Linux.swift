#if os(Linux)
    import Dispatch
    import Foundation
    import PenstockCore

    extension Reachability {
        /// This machine's own, by rtnetlink. It is watched from the first use to the end of the process. Where the system
        /// does not allow that, ``status`` stays `nil` and ``failure`` says why.
        public static let system: Reachability = {
            let reachability = Reachability()
            let socket = NetlinkSocket { [weak reachability] in reachability?.update($0) }
            if let failure = socket.start() {
                reachability.fail(failure)
            } else {
                NetlinkSocket.system.withLock { $0 = socket }
            }
            return reachability
        }()
    }

    /// A socket of the kernel's for links, addresses and routes, read on a queue of its own. Unchecked because everything in it
    /// is touched on that queue alone.
    final class NetlinkSocket: @unchecked Sendable {
        /// What `Reachability.system` stands on.
        static let system = Locked<NetlinkSocket?>(nil)

        /// `AF_NETLINK` and `NETLINK_ROUTE`, which the system's module does not have.
        private static let family: Int32 = 16
        private static let routeProtocol: Int32 = 0
        /// Changes of links, of addresses and of routes, of both families: bits of `RTMGRP_…`.
        private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
        /// The kernel's datagrams have at most 32 KiB.
        private static let bufferSize = 65_536

        private let queue = DispatchQueue(label: "penstock.reachability")
        private let publish: @Sendable (NetworkStatus) -> Void
        private var session: NetlinkSession
        private var source: (any DispatchSourceRead)?
        private var descriptor: Int32 = -1
        private var buffer = [UInt8](repeating: 0, count: bufferSize)

        init(publish: @escaping @Sendable (NetworkStatus) -> Void) {
            self.publish = publish
            session = NetlinkSession(isWireless: Self.isWireless)
        }

        private static let isWireless: @Sendable (String) -> Bool = { name in
            access("/sys/class/net/\(name)/phy80211", F_OK) == 0 || access("/sys/class/net/\(name)/wireless", F_OK) == 0
        }

        /// Opens the socket and asks for what is there.
        ///
        /// - Returns: why that is not possible.
        func start() -> String? {
            queue.sync {
                let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                descriptor = socket(Self.family, type, Self.routeProtocol)
                guard descriptor >= 0 else { return "no netlink socket: \(String(cString: strerror(errno)))" }
                guard bindToGroups() else {
                    let reason = String(cString: strerror(errno))
                    close(descriptor)
                    return "no netlink groups: \(reason)"
                }
                let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
                source.setEventHandler { [self] in read() }
                source.setCancelHandler { [descriptor] in close(descriptor) }
                source.resume()
                self.source = source
                perform(session.start(at: TimeSource.system.now()))
                return nil
            }
        }

        /// Closes it. To be called for one that is not to live as long as the process.
        func stop() {
            queue.sync {
                source?.cancel()
                source = nil
            }
        }

        /// `struct sockaddr_nl`: family, padding (2 bytes each), port, groups.
        private func bindToGroups() -> Bool {
            var address: [UInt8] = []
            address.append(native: UInt16(Self.family))
            address.append(native: UInt16(0))
            address.append(native: UInt32(0))
            address.append(native: Self.groups)
            return address.withUnsafeBytes { bytes in
                guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
                return bind(descriptor, address, socklen_t(bytes.count)) == 0
            }
        }

        private func read() {
            while source != nil {
                var sender = sockaddr_storage()
                var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
                let count = buffer.withUnsafeMutableBytes { bytes in
                    withUnsafeMutablePointer(to: &sender) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            recvfrom(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_TRUNC), $0, &size)
                        }
                    }
                }
                let now = TimeSource.system.now()
                guard count >= 0 else {
                    if errno == ENOBUFS { perform(session.lost(at: now)) } else if errno != EINTR { return }
                    continue
                }
                guard isKernel(&sender) else { continue }
                perform(
                    count > buffer.count ? session.lost(at: now) : session.receive(Array(buffer[..<count]), at: now))
            }
        }

        /// Any process may send to such a socket; the kernel's port is 0.
        private func isKernel(_ sender: inout sockaddr_storage) -> Bool {
            withUnsafeBytes(of: &sender) { Array($0.prefix(8))[...].native(UInt32.self, at: 4) == 0 }
        }

        private func perform(_ actions: [NetlinkSession.Action]) {
            for action in actions {
                switch action {
                case .send(let bytes): _ = send(descriptor, bytes, bytes.count, 0)
                case .publish(let status): publish(status)
                case .wake(let delay):
                    queue.asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in
                        guard let self, source != nil else { return }
                        perform(session.wake(at: TimeSource.system.now()))
                    }
                }
            }
        }
    }
#endif
