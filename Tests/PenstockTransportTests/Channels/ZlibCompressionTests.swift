#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import Testing

    /// permessage-deflate between two machines, and against bytes that the standard itself gives (RFC 7692 §7.2.3).
    @Suite(.covers("X14")) struct ZlibCompressionTests {
        private func pair(
            _ deflate: WebSocketDeflate = .init(), limits: WebSocketLimits = .init()
        ) throws -> (client: WebSocketMachine, server: WebSocketMachine) {
            (
                try WebSocketMachine(.client, limits: limits, deflate: deflate, compression: ZlibCompression()),
                try WebSocketMachine(.server, limits: limits, deflate: deflate, compression: ZlibCompression())
            )
        }

        /// What the client makes of a server's bytes.
        private func read(
            _ bytes: [UInt8], _ deflate: WebSocketDeflate = .init(), limits: WebSocketLimits = .init()
        ) throws -> [WebSocketMachine.Event] {
            var client = try pair(deflate, limits: limits).client
            var events: [WebSocketMachine.Event] = []
            for byte in bytes {
                client.receive([byte])
                while let event = try client.next() { events.append(event) }
            }
            return events
        }

        @Test("The standard's examples are read: one frame, two, a window that is kept, no compression, a last block")
        func examples() throws {
            let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
            #expect(try read([0xC1, 0x07] + hello) == [.message("Hello")])
            #expect(try read([0x41, 0x03] + hello[..<3] + [0x80, 0x04] + hello[3...]) == [.message("Hello")])
            let again: [UInt8] = [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00]
            #expect(try read([0xC1, 0x07] + hello + again) == [.message("Hello"), .message("Hello")])
            let stored: [UInt8] = [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
            #expect(try read(stored) == [.message("Hello")])
            let last: [UInt8] = [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
            #expect(try read(last + again) == [.message("Hello"), .message("Hello")])
            let twoBlocks: [UInt8] = [
                0xC1, 0x0D, 0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00,
            ]
            #expect(try read(twoBlocks) == [.message("Hello")])
        }

        @Test("Without a limit compressed messages are read, and a frame of 2^63 - 1 bytes is waited for")
        func unlimited() throws {
            let limits = WebSocketLimits(messageBytes: .max)
            let hello: [UInt8] = [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
            #expect(try read(hello, limits: limits) == [.message("Hello")])
            #expect(try read([0xC1, 0x7F, 0x7F] + [UInt8](repeating: 0xFF, count: 7), limits: limits).isEmpty)
            let inflater = try #require(ZlibCompression().inflater(windowBits: 15))
            #expect(try inflater.inflate(Data(hello.dropFirst(2)), upTo: .max) == Data("Hello".utf8))
        }

        @Test("A message may be compressed or not, and an empty one is a byte of zero")
        func mixed() throws {
            #expect(try read([0x81, 0x02, 0x68, 0x69]) == [.message("hi")])
            #expect(try read([0xC1, 0x01, 0x00]) == [.message("")])
            let failure = #expect(throws: WebSocketFailure.self) { try read([0xC2, 0x00]) }
            #expect(failure?.kind == .compression)
        }

        @Test(
            "Messages come back as they were sent, with every window and with or without memory of those before",
            arguments: [8, 9, 12, 15], [false, true])
        func roundTrip(bits: Int, forgets: Bool) throws {
            var deflate = WebSocketDeflate()
            (deflate.clientMaxWindowBits, deflate.serverMaxWindowBits) = (bits, bits)
            (deflate.clientNoContextTakeover, deflate.serverNoContextTakeover) = (forgets, forgets)
            var (client, server) = try pair(deflate)
            let text = String(repeating: "the same words over and over; ", count: 100)
            let noise = sampleBytes(seed: 7, count: 70_000)
            let messages: [WebSocketMessage] = [
                .text(text), "short", .binary(noise), .text(text), .binary(Data()), .text(text + "é"),
            ]
            for message in messages {
                for fragment in [Int.max, 1_000] {
                    try client.send(message, fragmentBytes: fragment)
                    server.receive(client.takeOutput())
                    #expect(try server.next() == .message(message))
                    try server.send(message)
                    client.receive(server.takeOutput())
                    #expect(try client.next() == .message(message))
                }
            }
        }

        @Test("A window that is kept makes the second message smaller, and one that is not does not")
        func takeover() throws {
            let noise = WebSocketMessage.binary(sampleBytes(seed: 3, count: 4_000))
            func sizes(_ deflate: WebSocketDeflate) throws -> (Int, Int) {
                var server = try pair(deflate).server
                try server.send(noise)
                let first = server.takeOutput().count
                try server.send(noise)
                return (first, server.takeOutput().count)
            }
            let kept = try sizes(.init())
            #expect(kept.1 < kept.0 / 10)
            var deflate = WebSocketDeflate()
            deflate.serverNoContextTakeover = true
            let forgotten = try sizes(deflate)
            #expect(forgotten.0 == forgotten.1)
        }

        @Test("Without a window that zlib has, messages go as they are")
        func smallestWindow() throws {
            var deflate = WebSocketDeflate()
            deflate.serverMaxWindowBits = 8
            var server = try pair(deflate).server
            let text = String(repeating: "a", count: 1_000)
            try server.send(.text(text))
            #expect(server.takeOutput().first == 0x81)
        }

        @Test(
            "A message that expands beyond the limit is refused, and one of just its size is not",
            arguments: [999, 1_000])
        func bombs(limit: Int) throws {
            var (client, server) = try pair(limits: WebSocketLimits(messageBytes: limit))
            try server.send(.text(String(repeating: "a", count: 1_000)))
            client.receive(server.takeOutput())
            if limit == 1_000 {
                #expect(try client.next() == .message(.text(String(repeating: "a", count: 1_000))))
            } else {
                let failure = #expect(throws: WebSocketFailure.self) { try client.next() }
                #expect(failure?.kind == .messageTooBig)
            }
        }

        @Test(
            "What nothing can shorten is read up to the limit, also where it is sent in the shortest blocks there are")
        func incompressible() throws {
            let limit = 1 << 20
            for excess in [0, 1] {
                let content = sampleBytes(seed: 77, count: limit + excess)
                // As zlib stores it that was given the least memory.
                var payload = Data()
                for start in stride(from: 0, to: content.count, by: 127) {
                    let block = content.dropFirst(start).prefix(127)
                    payload += Data([0, UInt8(block.count), 0, ~UInt8(block.count), 0xFF]) + block
                }
                payload.append(0)
                var client = try pair(limits: WebSocketLimits(messageBytes: limit)).client
                let length = withUnsafeBytes(of: UInt64(payload.count).bigEndian) { Data($0) }
                client.receive(Data([0xC2, 127]) + length + payload)
                if excess == 0 {
                    #expect(try client.next() == .message(.binary(content)))
                } else {
                    let failure = #expect(throws: WebSocketFailure.self) { try client.next() }
                    #expect(failure?.kind == .messageTooBig)
                }
            }
        }

        @Test("A gigabyte in a megabyte is refused at the limit, and its memory is never taken")
        func largeBomb() throws {
            let deflater = try #require(ZlibCompression().deflater(windowBits: 15))
            let zeros = try #require(deflater.deflate(Data(count: 64 << 20)))
            var client = try pair(limits: WebSocketLimits(messageBytes: 1 << 20)).client
            client.receive([0xC2, 126, UInt8(zeros.count >> 8), UInt8(zeros.count & 0xFF)])
            client.receive(zeros)
            let failure = #expect(throws: WebSocketFailure.self) { try client.next() }
            #expect(failure?.kind == .messageTooBig)
        }

        /// A binary message, compressed, as a server sends it.
        private func frame(_ payload: Data) -> Data {
            let count = payload.count
            let length: Data =
                switch count {
                case ..<126: Data([UInt8(count)])
                case ..<65_536: Data([126, UInt8(count >> 8), UInt8(count & 0xFF)])
                default: Data([127]) + withUnsafeBytes(of: UInt64(count).bigEndian) { Data($0) }
                }
            return Data([0xC2]) + length + payload
        }

        /// Blocks without content that call themselves the last.
        private func lastBlocks(_ count: Int) -> Data {
            Data((0..<2 * count).map { UInt8($0.isMultiple(of: 2) ? 0x03 : 0x00) })
        }

        @Test("Blocks that call themselves the last are read, as many as 4,096 in each message and no more")
        func fewLastBlocks() throws {
            var client = try pair().client
            let hello = Data([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
            client.receive(frame((0..<10).reduce(Data()) { bytes, _ in bytes + hello } + Data([0x00])))
            #expect(try client.next() == .message(.binary(Data(String(repeating: "Hello", count: 10).utf8))))
            let empty = lastBlocks(4_096)
            for _ in 0..<2 {
                client.receive(frame(empty + Data([0x00])))
                #expect(try client.next() == .message(.binary(Data())))
            }
            client.receive(frame(lastBlocks(4_097) + Data([0x00])))
            let failure = #expect(throws: WebSocketFailure.self) { try client.next() }
            #expect(failure?.kind == .compression)
        }

        @Test("A message of nothing but last blocks is refused at once, in however many pieces it comes")
        func floodOfLastBlocks() throws {
            let flood = frame(lastBlocks(1 << 20))
            for step in [flood.count, 1_000] {
                var client = try pair().client
                var pieces = 0
                let failure = #expect(throws: WebSocketFailure.self) {
                    for start in stride(from: 0, to: flood.count, by: step) where pieces <= 10 {
                        client.receive(flood.dropFirst(start).prefix(step))
                        pieces += 1
                        while try client.next() != nil {}
                    }
                }
                #expect(failure?.kind == .compression)
                #expect(pieces <= 10)
            }
        }

        @Test("What is no DEFLATE, and text that expands to no UTF-8, fails the socket with 1007")
        func broken() throws {
            // A kind of block that there is not, and a block whose length is told in two ways.
            for bytes: [UInt8] in [[0xC1, 0x02, 0xFF, 0xFF], [0xC1, 0x05, 0x00, 0x02, 0x00, 0xFF, 0xFF]] {
                let failure = #expect(throws: WebSocketFailure.self) { try read(bytes) }
                #expect(failure?.kind == .compression)
                #expect(failure?.closeCode == .invalidPayload)
            }
            let stored: [UInt8] = [0xC1, 0x08, 0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC3, 0x28, 0x00]
            let failure = #expect(throws: WebSocketFailure.self) { try read(stored) }
            #expect(failure?.kind == .invalidText)
        }

        @Test("The bit of compression is refused on a continuation, on a control frame, and where it was not agreed on")
        func misplacedBit() throws {
            for bytes: [UInt8] in [[0x01, 0x01, 0x61, 0xC0, 0x00], [0xC9, 0x00]] {
                let failure = #expect(throws: WebSocketFailure.self) { try read(bytes) }
                #expect(failure?.kind == .reservedBits)
            }
        }

        @Test("Without anything that compresses there is no such socket")
        func nothingThere() {
            #expect(throws: WebSocketFailure.self) { try WebSocketMachine(.client, deflate: .init()) }
        }
    }
#endif
