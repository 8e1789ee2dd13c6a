import PenstockCore
import PenstockTestSupport
import Testing

@Suite struct CivilDateTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (58, 1970, 2, 28), (59, 1970, 3, 1), (789, 1972, 2, 29),
            (790, 1972, 3, 1),
            (11_015, 2000, 2, 28), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (47_540, 2100, 2, 28),
            (47_541, 2100, 3, 1),
            (-25_509, 1900, 2, 28), (-25_508, 1900, 3, 1), (-134_774, 1601, 1, 1), (-135_081, 1600, 2, 29),
            (2_932_896, 9999, 12, 31), (-719_162, 1, 1, 1), (-719_163, 0, 12, 31), (-719_469, 0, 2, 29),
            (-719_468, 0, 3, 1),
            (-719_528, 0, 1, 1), (-719_529, -1, 12, 31), (-865_565, -400, 3, 1), (-865_566, -400, 2, 29),
        ] as [(Int64, Int64, Int64, Int64)])
    func `a number of days and its date stand for one another`(days: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CivilDate(daysSince1970: days)
        #expect((date.year, date.month, date.day) == (year, month, day))
        #expect(CivilDate(year: year, month: month, day: day) == date)
        #expect(date.daysSince1970 == days)
    }

    @Test(
        arguments: [
            (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, -1), (2026, 1, 32), (2026, 2, 29), (2024, 2, 30),
            (1900, 2, 29), (2000, 2, 30), (2100, 2, 29), (-100, 2, 29), (2026, 4, 31), (2026, 6, 31), (2026, 9, 31),
            (2026, 11, 31), (2026, 12, 32),
        ] as [(Int64, Int64, Int64)])
    func `a day that no month has is no date`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func `each day of 800 years is followed by the next one of its month, or by the first of the next`() throws {
        var date = try #require(CivilDate(year: -399, month: 12, day: 31))
        let (first, count) = (date.daysSince1970, 2 * 146_097)
        for days in 1...Int64(count) {
            let (year, month) = (date.year, date.month)
            let next =
                CivilDate(year: year, month: month, day: date.day + 1)
                ?? CivilDate(year: year, month: month + 1, day: 1) ?? CivilDate(year: year + 1, month: 1, day: 1)
            date = CivilDate(daysSince1970: first + days)
            guard date == next, date.daysSince1970 == first + days else {
                Issue.record("\(date) is no day after its predecessor")
                return
            }
        }
        #expect((date.year, date.month, date.day) == (401, 12, 31))
    }

    @Test(
        arguments: [(7, 3, 2, 1), (-7, 3, -3, 2), (6, 3, 2, 0), (-6, 3, -2, 0), (0, 3, 0, 0), (-1, 86_400, -1, 86_399)]
            as [(Int64, Int64, Int64, Int64)])
    func `a division that rounds down leaves nothing negative`(
        value: Int64, divisor: Int64, quotient: Int64, remainder: Int64
    ) {
        #expect(value.dividedDown(by: divisor) == (quotient, remainder))
    }
}
