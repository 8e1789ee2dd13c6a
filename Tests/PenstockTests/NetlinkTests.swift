#if os(Linux)
    import Penstock
    import PenstockTestSupport
    import Testing

    /// Messages as the kernel writes them.
    private enum Kernel {
        static func message(_ type: UInt16, sequence: UInt32 = 1, flags: UInt16 = 2, _ content: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(native: UInt32(16 + content.count))
            bytes.append(native: type)
            bytes.append(native: flags)
            bytes.append(native: sequence)
            bytes.append(native: UInt32(0))
            return padded(bytes + content)
        }

        static func attribute(_ type: UInt16, _ content: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(native: UInt16(4 + content.count))
            bytes.append(native: type)
            return padded(bytes + content)
        }

        static func attribute(_ type: UInt16, number: UInt32) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(native: number)
            return attribute(type, bytes)
        }

        static func link(
            _ index: UInt32, hardware: UInt16 = 1, flags: UInt32 = 0x41, name: String = "eth0", driver: String? = nil,
            sequence: UInt32 = 1
        ) -> [UInt8] {
            var bytes: [UInt8] = [0, 0]
            bytes.append(native: hardware)
            bytes.append(native: index)
            bytes.append(native: flags)
            bytes.append(native: UInt32.max)
            bytes += attribute(3, Array(name.utf8) + [0])
            if let driver { bytes += attribute(0x8000 | 18, attribute(1, Array(driver.utf8) + [0])) }
            return message(16, sequence: sequence, bytes)
        }

        static func address(family: UInt8 = 2, scope: UInt8 = 0, sequence: UInt32 = 1) -> [UInt8] {
            message(20, sequence: sequence, [family, 24, 0, scope, 1, 0, 0, 0])
        }

        static func route(
            _ interface: UInt32?, family: UInt8 = 2, length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1,
            flags: UInt32 = 0, hops: [UInt32] = [], sequence: UInt32 = 1
        ) -> [UInt8] {
            var bytes: [UInt8] = [family, length, 0, 0, table, 3, 0, type]
            bytes.append(native: flags)
            if let interface { bytes += attribute(4, number: interface) }
            if !hops.isEmpty {
                bytes += attribute(
                    9,
                    hops.flatMap { hop in
                        var bytes: [UInt8] = []
                        bytes.append(native: UInt16(8))
                        bytes += [0, 0]
                        bytes.append(native: hop)
                        return bytes
                    })
            }
            return message(24, sequence: sequence, bytes)
        }

        static func done(_ sequence: UInt32, flags: UInt16 = 2) -> [UInt8] {
            message(3, sequence: sequence, flags: flags, [0, 0, 0, 0])
        }

        private static func padded(_ bytes: [UInt8]) -> [UInt8] {
            bytes + Array(repeating: 0, count: -bytes.count & 3)
        }
    }

    /// What a dump of the kernel's says about the way out.
    struct NetworkTableTests {
        private func status(_ messages: [[UInt8]], wireless: Set<String> = []) -> NetworkStatus {
            var table = NetworkTable { wireless.contains($0) }
            for message in Netlink.messages(in: Array(messages.joined())) { table.take(message) }
            return table.status
        }

        @Test("A default route out of an interface that is up, and an address, are a way")
        func way() {
            let status = status([Kernel.link(2), Kernel.address(), Kernel.route(2)])
            #expect(status == NetworkStatus(isReachable: true, interfaces: [.wired]))
        }

        @Test("Without any one part of it there is no way", arguments: 0..<3)
        func missingParts(missing: Int) {
            var parts = [Kernel.link(2), Kernel.address(), Kernel.route(2)]
            parts.remove(at: missing)
            #expect(status(parts) == .unreachable)
        }

        @Test(
            "An interface must be up and running, and be more than the machine itself",
            arguments: [(0x41, true), (0x01, false), (0x40, false), (0x00, false), (0x49, false), (0x1_1043, true)]
                as [(UInt32, Bool)])
        func flags(flags: UInt32, isReachable: Bool) {
            let status = status([Kernel.link(2, flags: flags), Kernel.address(), Kernel.route(2)])
            #expect(status.isReachable == isReachable)
        }

        @Test(
            "An address counts that others can answer to",
            arguments: [(0, true), (200, true), (252, true), (253, false), (254, false)] as [(UInt8, Bool)])
        func scopes(scope: UInt8, isReachable: Bool) {
            let status = status([Kernel.link(2), Kernel.address(scope: scope), Kernel.route(2)])
            #expect(status.isReachable == isReachable)
        }

        @Test("The address must be of the route's family")
        func families() {
            #expect(!status([Kernel.link(2), Kernel.address(family: 2), Kernel.route(2, family: 10)]).isReachable)
            #expect(status([Kernel.link(2), Kernel.address(family: 10), Kernel.route(2, family: 10)]).isReachable)
        }

        @Test("A route counts that leads everywhere, and is one for packets to others")
        func routes() {
            func isReachable(_ route: [UInt8]) -> Bool {
                status([Kernel.link(2), Kernel.address(), route]).isReachable
            }
            #expect(isReachable(Kernel.route(2, length: 1)))
            // Whether its link is up is what the link says.
            for flags in [0x1, 0x10, 0x100, 0x400] as [UInt32] { #expect(isReachable(Kernel.route(2, flags: flags))) }
            #expect(!isReachable(Kernel.route(2, length: 2)))
            #expect(!isReachable(Kernel.route(2, length: 24)))
            #expect(!isReachable(Kernel.route(2, table: 255)))
            #expect(isReachable(Kernel.route(2, table: 100)))
            #expect(!isReachable(Kernel.route(2, type: 7)))
            #expect(!isReachable(Kernel.route(2, flags: 0x200)))
            #expect(!isReachable(Kernel.route(3)))
            #expect(!isReachable(Kernel.route(nil)))
            #expect(isReachable(Kernel.route(nil, hops: [3, 2])))
            #expect(!isReachable(Kernel.route(nil, hops: [3, 4])))
        }

        @Test(
            "The kind of an interface is known by its hardware and by what drives it",
            arguments: [
                (1, "eth0", nil, .wired), (1, "wlan0", nil, .wifi), (1, "wwan0", nil, .cellular),
                (1, "x", "wwan", .cellular),
                (519, "rmnet0", nil, .cellular), (530, "x", nil, .cellular), (65_534, "tun0", "tun", .tunnel),
                (65_534, "wg0", "wireguard", .tunnel), (65_534, "x", nil, .tunnel), (768, "x", nil, .tunnel),
                (769, "x", nil, .tunnel), (770, "x", nil, .other), (775, "x", nil, .other), (776, "x", nil, .tunnel),
                (777, "x", nil, .tunnel), (778, "x", nil, .tunnel),
                (779, "x", nil, .other),
                (800, "x", nil, .other), (801, "x", nil, .wifi), (803, "x", nil, .wifi), (804, "x", nil, .other),
                (512, "ppp0", nil, .other), (1, "veth0", "veth", .wired), (1, "tap0", "tun", .tunnel),
            ] as [(UInt16, String, String?, NetworkStatus.Interface)])
        func kinds(hardware: UInt16, name: String, driver: String?, kind: NetworkStatus.Interface) {
            let link = Kernel.link(2, hardware: hardware, name: name, driver: driver)
            let status = status([link, Kernel.address(), Kernel.route(2)], wireless: ["wlan0"])
            #expect(status.interfaces == [kind])
        }

        @Test(
            "A name that could leave its folder is never looked up",
            arguments: ["", ".", "..", "a/b", "../wlan0", "sixteen-bytes-xx", "fifteen-bytes-x"])
        func names(name: String) {
            let asked = Locked<[String]>([])
            var table = NetworkTable { name in
                asked.withLock { $0.append(name) }
                return true
            }
            for message in Netlink.messages(in: Kernel.link(2, name: name)) { table.take(message) }
            #expect(asked.withLock { $0 } == (name == "fifteen-bytes-x" ? [name] : []))
        }

        @Test("It is expensive when every way is cellular, and not when one is not")
        func expensive() {
            let modem = Kernel.link(3, hardware: 519, name: "rmnet0")
            let both = [Kernel.link(2), modem, Kernel.address()]
            #expect(status(both + [Kernel.route(3)]).isExpensive)
            #expect(!status(both + [Kernel.route(2), Kernel.route(3)]).isExpensive)
            #expect(!status(both).isExpensive)
            #expect(status(both + [Kernel.route(2), Kernel.route(3)]).interfaces == [.wired, .cellular])
        }

        @Test("Messages that are cut off, garbled or made of chance neither crash nor run without end")
        func garbage() {
            let whole =
                Kernel.link(2, driver: "veth") + Kernel.address() + Kernel.route(nil, hops: [2]) + Kernel.done(1)
            for length in 0...whole.count { _ = status([Array(whole.prefix(length))]) }
            var random = Seeded(seed: 20_262)
            for _ in 0..<20_000 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = status([bytes])
            }
            for length in [0, 1, 15, 16, 17] {
                var bytes: [UInt8] = []
                bytes.append(native: UInt32(length))
                #expect(Netlink.messages(in: bytes + Array(repeating: 0, count: 12)).count == (length == 16 ? 1 : 0))
            }
        }

        @Test("However many interfaces and routes there are, only so many are kept")
        func bounded() {
            var table = NetworkTable { _ in false }
            for index in 0..<5_000 {
                for message in Netlink.messages(in: Kernel.link(UInt32(index)) + Kernel.route(UInt32(index))) {
                    table.take(message)
                }
            }
            for message in Netlink.messages(in: Kernel.address()) { table.take(message) }
            #expect(table.status.isReachable)
            #expect(MemoryLayout.size(ofValue: table) < 100)
        }

        @Test("4,096 interfaces are kept and as many ways out, and what comes after those is not", arguments: [0, 1])
        func limits(more: Int) {
            let wifi = Kernel.link(10_000, hardware: 801)
            let links = (0..<UInt32(4_095 + more)).map { Kernel.link($0, flags: 0) }
            #expect(status(links + [wifi, Kernel.address(), Kernel.route(10_000)]).isReachable == (more == 0))
            let routes = (0..<UInt32(4_095 + more)).map { Kernel.route($0) }
            #expect(status(routes + [wifi, Kernel.address(), Kernel.route(10_000)]).isReachable == (more == 0))
        }

        @Test("Each message of a datagram has the content that its length says, and begins at a multiple of four")
        func contents() {
            let contents = (0...9).map { count in (0..<count).map { UInt8(100 + $0) } }
            let messages = Netlink.messages(in: contents.flatMap { Kernel.message(9, sequence: 7, flags: 5, $0) })
            #expect(messages.map { Array($0.content) } == contents)
            #expect(messages.allSatisfy { $0.type == 9 && $0.sequence == 7 && $0.flags == 5 })
        }

        @Test("An attribute ends where its length says, and one may be empty", arguments: ["wifi", "wlan0", "w"])
        func attributes(name: String) {
            var bytes: [UInt8] = [0, 0]
            bytes.append(native: UInt16(1))
            bytes.append(native: UInt32(2))
            bytes.append(native: UInt32(0x41))
            bytes.append(native: UInt32.max)
            // No zero ends the name, and what follows is none of it. Of two names the first is the one.
            bytes += Kernel.attribute(99, []) + Kernel.attribute(3, Array(name.utf8)) + Kernel.attribute(98, [0x61])
            bytes += Kernel.attribute(3, Array("eth0".utf8)) + Kernel.attribute(97, [])
            let messages = [Kernel.message(16, bytes), Kernel.address(), Kernel.route(2)]
            #expect(status(messages, wireless: [name]).interfaces == [.wifi])
        }
    }

    /// When the kernel is asked, and what its answers come to.
    struct NetlinkSessionTests {
        private let wired = NetworkStatus(isReachable: true, interfaces: [.wired])

        private func request(_ step: Int, _ sequence: UInt32) -> NetlinkSession.Action {
            .send(Netlink.dumpRequest([18, 22, 26][step], sequence: sequence))
        }

        private func session() -> NetlinkSession { NetlinkSession { _ in false } }

        /// Answers a dump whose first request has this number.
        private func answer(
            _ session: inout NetlinkSession, from sequence: UInt32, at now: Duration, up: Bool = true
        ) -> [NetlinkSession.Action] {
            _ = session.receive(
                Kernel.link(2, flags: up ? 0x41 : 0, sequence: sequence) + Kernel.done(sequence), at: now)
            _ = session.receive(Kernel.address(sequence: sequence + 1) + Kernel.done(sequence + 1), at: now)
            return session.receive(Kernel.route(2, sequence: sequence + 2) + Kernel.done(sequence + 2), at: now)
        }

        @Test("Links, addresses and routes are asked for one after the other, and then the status is told")
        func dump() {
            var session = session()
            #expect(session.start(at: .zero) == [request(0, 1), .wake(after: .seconds(5))])
            #expect(session.receive(Kernel.link(2, sequence: 1), at: .zero) == [])
            #expect(session.receive(Kernel.done(1), at: .zero) == [request(1, 2)])
            #expect(session.receive(Kernel.address(sequence: 2) + Kernel.done(2), at: .zero) == [request(2, 3)])
            #expect(session.receive(Kernel.route(2, sequence: 3) + Kernel.done(3), at: .zero) == [.publish(wired)])
        }

        @Test("A request is as the kernel wants it")
        func requestBytes() {
            let bytes = Netlink.dumpRequest(18, sequence: 7)
            var expected: [UInt8] = []
            expected.append(native: UInt32(17))
            expected.append(native: UInt16(18))
            expected.append(native: UInt16(0x301))
            expected.append(native: UInt32(7))
            #expect(bytes == expected + [0, 0, 0, 0, 0, 0, 0, 0])
        }

        @Test("A change has everything asked for anew, but no more than ten times a second")
        func changes() {
            var session = session()
            _ = session.start(at: .zero)
            _ = answer(&session, from: 1, at: .zero)
            let change = Kernel.link(2, sequence: 0)
            #expect(session.receive(change, at: .milliseconds(99)) == [.wake(after: .milliseconds(1))])
            #expect(session.receive(change, at: .milliseconds(99)) == [])
            #expect(session.wake(at: .milliseconds(99)) == [.wake(after: .milliseconds(1))])
            #expect(session.wake(at: .milliseconds(100)) == [request(0, 4), .wake(after: .seconds(5))])
            #expect(answer(&session, from: 4, at: .milliseconds(101), up: false) == [.publish(.unreachable)])
            #expect(session.receive(change, at: .milliseconds(200)) == [request(0, 7), .wake(after: .seconds(5))])
        }

        @Test("What changes during a dump has it repeated, and the half of it is not told", arguments: [true, false])
        func changedMeanwhile(byMessage: Bool) {
            var session = session()
            _ = session.start(at: .zero)
            #expect(
                (byMessage ? session.receive(Kernel.route(2, sequence: 0), at: .zero) : session.lost(at: .zero)) == [])
            #expect(answer(&session, from: 1, at: .milliseconds(1)) == [.wake(after: .milliseconds(99))])
            #expect(session.wake(at: .milliseconds(100)).first == request(0, 4))
            #expect(answer(&session, from: 4, at: .milliseconds(100)) == [.publish(wired)])
        }

        @Test("A dump that the kernel marks as interrupted is repeated")
        func interrupted() {
            var session = session()
            _ = session.start(at: .zero)
            _ = session.receive(Kernel.done(1, flags: 0x12), at: .zero)
            _ = session.receive(Kernel.done(2), at: .zero)
            #expect(session.receive(Kernel.done(3), at: .milliseconds(100)).first == request(0, 4))
        }

        @Test(
            "One flag of the kernel's marks a dump as interrupted, and no other one",
            arguments: [(0x10, true), (0xFFFF, true), (0x00, false), (0x01, false), (0x20, false), (0xFFEF, false)]
                as [(UInt16, Bool)])
        func interruptedFlag(flags: UInt16, isInterrupted: Bool) {
            var session = session()
            _ = session.start(at: .zero)
            _ = session.receive(Kernel.done(1), at: .zero)
            _ = session.receive(Kernel.done(2, flags: flags), at: .zero)
            let actions = session.receive(Kernel.done(3), at: .milliseconds(100))
            #expect(actions.first == (isInterrupted ? request(0, 4) : .publish(.unreachable)))
        }

        @Test("A refusal is no answer: the dump is repeated")
        func refused() {
            var session = session()
            _ = session.start(at: .zero)
            #expect(
                session.receive(Kernel.message(2, sequence: 1, [0xF0, 0xFF, 0xFF, 0xFF]), at: .zero) == [
                    .wake(after: .milliseconds(100))
                ])
        }

        @Test("A dump whose end was lost is given up after five seconds, and not before")
        func lostEnd() {
            var session = session()
            _ = session.start(at: .zero)
            #expect(session.wake(at: .milliseconds(4_999)) == [])
            #expect(session.receive(Kernel.link(2, sequence: 0), at: .milliseconds(4_999)) == [])
            #expect(session.wake(at: .seconds(5)).first == request(0, 2))
            var other = self.session()
            _ = other.start(at: .zero)
            #expect(other.lost(at: .seconds(5)).first == request(0, 2))
        }

        @Test(
            "Any message of links, addresses and routes is a change, and no other one",
            arguments: [(15, false), (16, true), (17, true), (20, true), (26, true), (27, true), (28, false)]
                as [(UInt16, Bool)])
        func whatIsAChange(type: UInt16, isChange: Bool) {
            var session = session()
            _ = session.start(at: .zero)
            _ = answer(&session, from: 1, at: .zero)
            let actions = session.receive(Kernel.message(type, sequence: 0, []), at: .seconds(1))
            #expect(actions == (isChange ? [request(0, 4), .wake(after: .seconds(5))] : []))
        }

        @Test("What answers no request of now is not taken in, and what is no change asks for nothing")
        func foreignMessages() {
            var session = session()
            _ = session.start(at: .zero)
            #expect(session.receive(Kernel.done(99), at: .zero) == [])
            #expect(session.receive(Kernel.message(2, sequence: 99, [0, 0, 0, 0]), at: .zero) == [])
            _ = answer(&session, from: 1, at: .zero)
            #expect(session.receive(Kernel.done(3) + Kernel.message(1, []), at: .seconds(1)) == [])
            #expect(session.wake(at: .seconds(9)) == [])
        }

        @Test("Datagrams of chance neither crash nor end the watching")
        func fuzz() {
            var random = Seeded(seed: 20_263)
            var session = session()
            _ = session.start(at: .zero)
            var now = Duration.zero
            for _ in 0..<20_000 {
                now += .milliseconds(Int.random(in: 0...300, using: &random))
                let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                    UInt8.random(in: 0...30, using: &random)
                }
                _ = session.receive(bytes, at: now)
                if Bool.random(using: &random) { _ = session.wake(at: now) }
            }
            now += .seconds(20)
            _ = session.wake(at: now)
            let asked = session.lost(at: now + .seconds(20))
            guard case .send(let bytes) = asked.first else { return #expect(Bool(false), "nothing is asked") }
            let sequence = bytes[8..<12].enumerated().reduce(UInt32(0)) {
                $0 | UInt32($1.element) << UInt32(8 * $1.offset)
            }
            #expect(answer(&session, from: sequence, at: now + .seconds(20)) == [.publish(wired)])
        }
    }
#endif
