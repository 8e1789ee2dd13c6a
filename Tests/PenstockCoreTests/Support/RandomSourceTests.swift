import Testing

@testable import PenstockCore

@Suite struct RandomSourceTests {
    @Test("Numbers that follow from a drawn one are those of SplitMix64")
    func drawn() {
        // The reference implementation's, for this seed.
        var random = DrawnRandom(1_234_567)
        let numbers = (0..<5).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ])
    }

    @Test("A source gives what it is made of, and the machine's own gives no number twice")
    func sources() {
        let fixed = RandomSource { 7 }
        #expect(fixed.next() == 7 && fixed.next() == 7)
        let system = RandomSource.system
        #expect(system.next() != system.next())
    }
}
