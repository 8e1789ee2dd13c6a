import Foundation

/// The choices that ``FormFormat`` and ``JSONFormat`` share.
public enum ParameterStyle {
    /// The order in which the members of an object are written.
    public enum Order: Hashable, Sendable {
        /// The order by the UTF-8 of the keys as they are written: the same bytes whatever the order of declaration.
        case sorted
        /// The order in which they are declared.
        case declared
    }

    /// How a date is written.
    public enum Dates: Sendable {
        /// RFC 3339 in UTC, without fractions of a second: `2026-01-31T08:30:00Z`.
        case iso8601
        /// RFC 3339 in UTC, with milliseconds: `2026-01-31T08:30:00.250Z`.
        case iso8601WithMilliseconds
        /// A number, with a fraction where there is one.
        case secondsSince1970
        /// A whole number.
        case millisecondsSince1970
        /// Whatever the closure returns, other than a date.
        case custom(@Sendable (Date) throws -> ParameterValue)

        /// A text made by one of Foundation's format styles. Give the style a fixed locale and time zone.
        public static func formatted<Style: FormatStyle & Sendable>(_ style: Style) -> Dates
        where Style.FormatInput == Date, Style.FormatOutput == String {
            .custom { .string(style.format($0)) }
        }
    }

    /// How binary data is written.
    public enum Binary: Sendable {
        /// RFC 4648 §4, with padding.
        case base64
        /// RFC 4648 §5, without padding.
        case base64URL
        /// Two lower-case digits a byte.
        case hexadecimal
        /// Whatever the closure returns, other than data.
        case custom(@Sendable (Data) throws -> ParameterValue)
    }
}

extension ParameterStyle.Dates {
    /// What stands for `date`: a number or a text.
    func value(of date: Date) throws(ParameterEncodingError) -> ParameterValue {
        switch self {
        case .iso8601: return .string(try InternetDate.text(date, milliseconds: false))
        case .iso8601WithMilliseconds: return .string(try InternetDate.text(date, milliseconds: true))
        case .secondsSince1970: return .double(date.timeIntervalSince1970)
        case .millisecondsSince1970: return .int(try InternetDate.milliseconds(date))
        case .custom(let convert):
            do { return try ParameterStyle.resolved(convert(date)) } catch { throw .wrapping(error) }
        }
    }
}

extension ParameterStyle.Binary {
    /// What stands for `data`, usually a text.
    func value(of data: Data) throws(ParameterEncodingError) -> ParameterValue {
        switch self {
        case .base64: return .string(data.base64EncodedString())
        case .base64URL: return .string(Self.base64URL(data))
        case .hexadecimal: return .string(Self.hexadecimal(data))
        case .custom(let convert):
            do { return try ParameterStyle.resolved(convert(data)) } catch { throw .wrapping(error) }
        }
    }

    private static func base64URL(_ data: Data) -> String {
        let bytes = data.base64EncodedData().compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension ParameterValue {
    /// What is written for the value: for a date and for data what a format makes of them.
    func written(
        _ dates: ParameterStyle.Dates, _ binary: ParameterStyle.Binary
    ) throws(ParameterEncodingError) -> ParameterValue {
        switch self {
        case .date(let date): try dates.value(of: date)
        case .data(let data): try binary.value(of: data)
        default: self
        }
    }
}

extension ParameterStyle {
    /// A closure's result must not need the closure again.
    fileprivate static func resolved(_ value: ParameterValue) throws(ParameterEncodingError) -> ParameterValue {
        switch value {
        case .date, .data: throw ParameterEncodingError(.unresolvedValue)
        default: value
        }
    }
}
