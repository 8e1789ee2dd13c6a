#if os(Linux)
    import Testing

    @testable import PenstockCurl

    /// Which workarounds are in force.
    @Suite struct FaultTests {
        private static let mended: Set<CurlFault> = [.lostEarlyResponse, .heldStream, .missedEnd]

        @Test(
            "The version that mended a fault no longer has it, and the one before still has",
            arguments: [
                (CurlVersion(7, 88, 1), true), (CurlVersion(8, 13, 255), true), (CurlVersion(8, 14), false),
                (CurlVersion(8, 14, 1), false), (CurlVersion(9, 0), false),
            ])
        func versions(version: CurlVersion, isPresent: Bool) {
            for fault in Self.mended { #expect(fault.isPresent(in: version) == isPresent) }
        }

        @Test("A handle is used again from the version on that forgets its last field line")
        func danglingField() {
            #expect(CurlFault.danglingField.isPresent(in: CurlVersion(8, 0, 1)))
            #expect(!CurlFault.danglingField.isPresent(in: CurlVersion(8, 1)))
        }

        @Test("A fault that nobody has seen gone is in every version")
        func unmended() {
            for fault in CurlFault.allCases where !Self.mended.contains(fault) && fault != .danglingField {
                #expect(fault.isPresent(in: CurlVersion(7, 88)))
                #expect(fault.isPresent(in: CurlVersion(99, 0)))
            }
        }

        @Test("What the process is asked is what its version of libcurl says")
        func process() {
            for fault in CurlFault.allCases { #expect(fault.isPresent == fault.isPresent(in: CurlLibrary.version)) }
            #expect(CurlLibrary.version > CurlVersion(7, 84))
        }
    }
#endif
