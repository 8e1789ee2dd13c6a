#if os(Linux)
    import PenstockCore

    /// What a dump of the kernel's links, addresses and routes says about the way to other networks. It keeps nothing but
    /// what that needs, and little of it, however much there is.
    package struct NetworkTable: Sendable {
        private struct Link: Sendable {
            let isUp: Bool
            let kind: NetworkStatus.Interface
        }

        /// A way out of an interface, for one family of addresses.
        private struct Exit: Hashable, Sendable {
            let interface: UInt32
            let family: UInt8
        }

        /// More interfaces, or more ways out, than any machine has that an app runs on.
        private static let limit = 4_096

        private var links: [UInt32: Link] = [:]
        private var exits: Set<Exit> = []
        /// The families in which the machine has an address that others can answer to.
        private var families: Set<UInt8> = []
        private let isWireless: @Sendable (String) -> Bool

        /// - Parameter isWireless: whether the interface of a name is a wireless one, which these messages do not tell.
        package init(isWireless: @escaping @Sendable (String) -> Bool) {
            self.isWireless = isWireless
        }

        /// Takes in one message of a dump; one that it does not understand changes nothing.
        package mutating func take(_ message: NetlinkMessage) {
            switch message.type {
            case Netlink.newLink: takeLink(message)
            case Netlink.newAddress: takeAddress(message)
            case Netlink.newRoute: takeRoute(message)
            default: break
            }
        }

        /// There is a way when a default route leads out of an interface that is up, and the machine has an address of its
        /// family. It is expensive when every way is cellular.
        package var status: NetworkStatus {
            let ways = exits.filter { families.contains($0.family) }.compactMap { links[$0.interface] }.filter(\.isUp)
            let kinds = Set(ways.map(\.kind))
            return NetworkStatus(isReachable: !kinds.isEmpty, interfaces: kinds, isExpensive: kinds == [.cellular])
        }

        // MARK: Links

        /// `struct ifinfomsg`: family, padding, type (2 bytes), index, flags, change.
        private mutating func takeLink(_ message: NetlinkMessage) {
            let content = message.content
            guard links.count < Self.limit, let type = content.native(UInt16.self, at: 2),
                let index = content.native(UInt32.self, at: 4), let flags = content.native(UInt32.self, at: 8)
            else { return }
            let (isUp, isRunning, isLoopback) = (flags & 0x1 != 0, flags & 0x40 != 0, flags & 0x8 != 0)
            let attributes = message.attributes(after: 16)
            let name = Self.text(attributes[3])
            let driver = attributes[18].map(NetlinkMessage.attributes).flatMap { $0[1] }
            let kind = kind(of: type, name: name, driver: Self.text(driver))
            links[index] = Link(isUp: isUp && isRunning && !isLoopback, kind: kind)
        }

        /// Tells the kind of an interface by the type of its hardware (`linux/if_arp.h`), and by what drives it.
        private func kind(of type: UInt16, name: String, driver: String) -> NetworkStatus.Interface {
            switch (type, driver) {
            case (_, "wwan"), (519, _), (530, _): .cellular
            case (_, "wireguard"), (_, "tun"), (65_534, _), (768...769, _), (776...778, _): .tunnel
            case (801...803, _): .wifi
            case (1, _) where name.hasPrefix("wwan"): .cellular
            case (1, _): Self.isName(name) && isWireless(name) ? .wifi : .wired
            default: .other
            }
        }

        /// Whether it can be a part of a path: what the kernel allows is shorter than 16 bytes and has no slash.
        private static func isName(_ name: String) -> Bool {
            !name.isEmpty && name.utf8.count < 16 && !name.utf8.contains(UInt8(ascii: "/")) && name != "."
                && name != ".."
        }

        private static func text(_ bytes: ArraySlice<UInt8>?) -> String {
            String(decoding: (bytes ?? []).prefix { $0 != 0 }, as: UTF8.self)
        }

        // MARK: Addresses

        /// `struct ifaddrmsg`: family, length of the prefix, flags, scope, index.
        private mutating func takeAddress(_ message: NetlinkMessage) {
            guard let family = message.content.native(UInt8.self, at: 0),
                let scope = message.content.native(UInt8.self, at: 3)
            else { return }
            // From 253 on an address is for this link or this machine alone.
            if scope < 253 { families.insert(family) }
        }

        // MARK: Routes

        /// `struct rtmsg`: family, lengths of destination and source, type of service, table, protocol, scope, type, flags.
        private mutating func takeRoute(_ message: NetlinkMessage) {
            let content = message.content
            guard let family = content.native(UInt8.self, at: 0), let length = content.native(UInt8.self, at: 1),
                let table = content.native(UInt8.self, at: 4), let type = content.native(UInt8.self, at: 7),
                let flags = content.native(UInt32.self, at: 8)
            else { return }
            // Halves of the address space are how virtual private networks write a default route. Only unicast leads
            // anywhere, table 255 is the machine itself, and 0x200 marks what is only a cached answer.
            guard length <= 1, type == 1, table != 255, flags & 0x200 == 0 else { return }
            let attributes = message.attributes(after: 12)
            if let interface = attributes[4]?.native(UInt32.self, at: 0) { add(interface, family) }
            if let hops = attributes[9] { takeHops(hops, family) }
        }

        /// `struct rtnexthop`: length (2 bytes), flags, hops, index.
        private mutating func takeHops(_ bytes: ArraySlice<UInt8>, _ family: UInt8) {
            var rest = bytes
            while let length = rest.native(UInt16.self, at: 0).map({ Int($0) }), length >= 8, length <= rest.count,
                let interface = rest.native(UInt32.self, at: 4)
            {
                add(interface, family)
                rest = rest.dropFirst((length + 3) & ~3)
            }
        }

        private mutating func add(_ interface: UInt32, _ family: UInt8) {
            if exits.count < Self.limit { exits.insert(Exit(interface: interface, family: family)) }
        }
    }
#endif
