import Foundation
import Penstock

/// The request of the command line as an API of a service, since it is a service that signs.
struct FetchCall: Endpoint {
    typealias Output = Data

    let request: HTTPRequest

    /// Everything at the URL's origin. A redirect to another one is not signed.
    static func service(of url: HTTPURL, signer: (any Signer)?) -> Service {
        Service(.main, [.production: url.origin.text], signer: signer)
    }

    /// The URL that is asked for stands in the options, byte for byte.
    var route: Route { Route(request.method, "/") }
    var body: HTTPBody { request.body }
    var envelope: EnvelopeChoice { .none }
    var decoding: ResponseDecoding<Data> { .data }
    var options: CallOptions { CallOptions.at(request.url).with { $0.status = .any } }

    /// The headers of the request, in place of the common ones of the same names, and each as often as it was given.
    var headers: HeaderEdits {
        let names = Set(request.fields.map(\.name))
        return request.fields.reduce(names.reduce(HeaderEdits()) { $0.removing($1) }) { $0.adding($1.name, $1.value) }
    }
}

/// How much of a transfer is done, on standard error; nothing where that is no terminal.
struct TransferBar {
    private let started = ContinuousClock.now

    static var isShown: Bool { isatty(2) == 1 }

    func draw(_ progress: TransferProgress) {
        Console.redraw(Self.line(progress, after: ContinuousClock.now - started))
    }

    func remove() {
        Console.redraw("")
    }

    /// The bar where the total is known, how many bytes have moved, how many a second, and how long it will take.
    static func line(_ progress: TransferProgress, after elapsed: Duration) -> String {
        let isUpload = progress.expectedToSend ?? progress.sent > 0 && progress.received == 0
        let done = isUpload ? progress.sent : progress.received
        let total = isUpload ? progress.expectedToSend : progress.expectedToReceive
        let seconds = elapsed / .seconds(1)
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let speed = "\(isUpload ? "sent" : "received"), \(size(rate))/s"
        guard let total, total > 0 else { return "\(size(Double(done))) \(speed)" }
        let part = min(1, Double(done) / Double(total))
        let filled = Int(part * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        let left = rate > 0 && done < total ? ", \(time(Double(total - done) / rate)) left" : ""
        return "\(bar) \(Int(part * 100)) %  \(size(Double(done))) of \(size(Double(total))) \(speed)\(left)"
    }

    /// A size in units of 1,024 bytes, with one digit behind the point; in whole bytes below that.
    static func size(_ bytes: Double) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard bytes >= 1_024 else { return "\(Int(bytes)) B" }
        var (value, unit) = (bytes / 1_024, 0)
        // What would be written as 1024.0 is one of the next unit.
        while value >= 1_023.95, unit < units.count - 1 { (value, unit) = (value / 1_024, unit + 1) }
        return String(format: "%.1f ", value) + units[unit]
    }

    /// Minutes and seconds, and hours where there are some.
    static func time(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "more than 99 h" }
        let all = Int(seconds.rounded(.up))
        guard all >= 60 else { return "\(all) s" }
        let (hours, minutes) = (all / 3_600, all / 60 % 60)
        let rest = String(format: "%02d", all % 60)
        return hours > 0 ? "\(hours):\(String(format: "%02d", minutes)):\(rest) h" : "\(minutes):\(rest) min"
    }
}
