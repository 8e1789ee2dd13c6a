import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockSQLite

@Suite struct XXHash64Tests {
    @Test("The hash is XXH64: the values of its reference implementation")
    func knownValues() {
        #expect(XXHash64.hash("") == 0xEF46_DB37_51D8_E999)
        #expect(XXHash64.hash("a") == 0xD24E_C4F1_A98C_6E5B)
        #expect(XXHash64.hash("abc") == 0x44BC_2CF5_AD77_0999)
        #expect(XXHash64.hash("Nobody inspects the spammish repetition") == 0xFBCE_A83C_8A37_8BF1)
    }

    @Test("Every bit of the input and of the seed counts", arguments: [1, 7, 31, 32, 33, 64, 100])
    func everyBitCounts(length: Int) {
        let bytes = [UInt8](sampleBytes(seed: 1, count: length))
        let hash = bytes.withUnsafeBytes { XXHash64.hash($0, seed: 5) }
        #expect(bytes.withUnsafeBytes { XXHash64.hash($0, seed: 6) } != hash)
        for bit in 0..<length * 8 {
            var other = bytes
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(other.withUnsafeBytes { XXHash64.hash($0, seed: 5) } != hash)
        }
    }
}
