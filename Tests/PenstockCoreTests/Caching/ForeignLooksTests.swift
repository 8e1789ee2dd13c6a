import Testing

@testable import PenstockCore

/// When a store is looked at for what other processes have changed. All moments are in seconds, and a change may go unnoticed for ten.
@Suite struct ForeignLooksTests {
    private func begin(_ looks: inout ForeignLooks, _ seconds: Int) throws -> ForeignLooks.Look {
        let look = looks.begin(at: .seconds(seconds))
        return try #require(look)
    }

    @Test func `a look is due once half of the time has passed since the last one began`() {
        var looks = ForeignLooks(.seconds(10), since: .seconds(100))
        #expect(looks.begin(at: .seconds(104.9)) == nil)
        #expect(looks.begin(at: .seconds(105)) != nil)
    }

    @Test func `one look is under way at a time, and one that does not end is begun again after all of the time`() {
        var looks = ForeignLooks(.seconds(10), since: .zero)
        #expect(looks.begin(at: .seconds(5)) != nil)
        #expect(looks.begin(at: .seconds(15)) == nil)
        #expect(looks.begin(at: .seconds(15.1)) != nil)
    }

    @Test func `what a look has seen is as old as its beginning, and an earlier one takes nothing back`() throws {
        var looks = ForeignLooks(.seconds(10), since: .zero)
        let first = try begin(&looks, 8)
        let second = try begin(&looks, 19)
        #expect(!looks.isRecent(at: .seconds(19)))
        looks.end(second)
        looks.end(first)
        #expect(looks.isRecent(at: .seconds(29)))
        #expect(!looks.isRecent(at: .seconds(29.1)))
    }

    @Test func `only the end of the look that was begun last lets another one begin`() throws {
        var looks = ForeignLooks(.seconds(10), since: .zero)
        let first = try begin(&looks, 8)
        let second = try begin(&looks, 19)
        looks.end(first)
        #expect(looks.begin(at: .seconds(20)) == nil)
        looks.end(second)
        #expect(looks.begin(at: .seconds(24)) != nil)
    }
}
