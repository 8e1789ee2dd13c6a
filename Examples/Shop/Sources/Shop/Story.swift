import Foundation
import Penstock
import ShopKit

/// A visit to the shop. Each chapter does something through the app layer, checks what came of it, and returns lines made
/// of what it got and of what the servers counted.
@MainActor
struct Story {
    let world: World
    let shop: ShopApp

    /// Between the phone and the network.
    let tunnel: Tunnel

    /// Told of everything that happens to a call.
    let events: (any EventSink)?

    /// Shows a line in the place of the one before it; an empty one takes it away.
    let draw: @Sendable (String) -> Void

    /// - Parameters:
    ///   - writes: keeps what is not delivered yet.
    ///   - events: told of everything that happens to a call.
    ///   - draw: shows a line in the place of the one before it, for what moves; an empty one takes it away.
    init(
        at world: World, writes: any OutboxStore = MemoryOutboxStore(), events: (any EventSink)? = nil,
        draw: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.world = world
        self.events = events
        self.draw = draw
        tunnel = Tunnel(PlatformTransport.make())
        shop = ShopApp(
            at: world.addresses, transport: tunnel, events: events, writes: writes, vault: MemoryVault(),
            keys: world.keys)
    }

    typealias Chapter = (title: String, tell: () async throws -> [String])

    private var chapters: [Chapter] {
        [
            ("The catalogue", listProducts),
            ("A wrong password", failToLogIn),
            ("The right password", logIn),
            ("An order", placeOrder),
            ("The order on its way", followOrder),
            ("A token that has expired", useExpiredToken),
            ("An order in a tunnel", orderInTunnel),
            ("A heart that is tapped nine times", tapHeart),
            ("The price list, a line at a time", readPriceList),
            ("One API, three styles", useThreeStyles),
            ("Two views of one reply", reformTwice),
            ("Another environment, at run time", switchEnvironment),
            ("A page that is left", leavePage),
            ("A server that is not there", missServer),
            ("A server with too much to do", surviveRush),
            ("A parameter that breaks a rule", breakRule),
            ("A link that moved", followRedirect),
            ("A list, page after page", turnPages),
            ("Several calls as one", askTogether),
            ("A call that needs another one", askInTurn),
            ("Rapid taps", tapAway),
            ("What is kept, by four policies", useFourPolicies),
            ("A call that is signed", signCall),
            ("A call that is sealed", sealCall),
            ("The app is started again", startAgain),
            ("A rule below the app", ruleBelow),
            ("A picture goes up", sendPicture),
            ("A film comes down, through a cut connection", watchFilm),
            ("A conversation", talk),
        ] + secureChapters + [("A logout", logOut)]
    }

    /// Tells everything, and leaves an archive and a report of its calls in a folder: `shop.har` and `shop.html`.
    ///
    /// - Parameters:
    ///   - folder: what the story keeps for a moment is there, too, until it is over.
    ///   - draw: shows a line in the place of the one before it; an empty one takes it away.
    ///   - watching: puts a sink of its own in front of the archive's.
    /// - Throws: ``Surprise``, and what keeps a file from being written.
    static func visit(
        leaving folder: URL, draw: @escaping @Sendable (String) -> Void = { _ in },
        watching: (any EventSink) -> any EventSink = { $0 }, say: (String) -> Void
    ) async throws {
        let archive = folder.appendingPathComponent("shop.har")
        let report = folder.appendingPathComponent("shop.html")
        let recorder = try HARRecorder(file: archive, startsOver: true)
        try await Scratch.$folder.withValue(folder) {
            try await run(events: watching(recorder), draw: draw, say: say)
        }
        await recorder.close()
        try HTMLReport.write(archive: archive, to: report, title: "A visit to the shop")
        say("What happened is in \(report.path), for a browser, and in \(archive.path).")
    }

    /// Opens the servers, tells everything, and closes them again.
    ///
    /// - Parameter draw: shows a line in the place of the one before it; an empty one takes it away.
    /// - Throws: ``Surprise``.
    static func run(
        events: (any EventSink)? = nil, draw: @escaping @Sendable (String) -> Void = { _ in }, say: (String) -> Void
    ) async throws {
        let world = try World()
        defer { world.close() }
        let folder = Scratch.new()
        defer { try? FileManager.default.removeItem(at: folder) }
        let writes = PlatformOutbox.store(at: folder.appendingPathComponent("outbox.sqlite"))
        let story = Story(at: world, writes: writes, events: events, draw: draw)
        try await story.tell(say)
        await story.shop.end()
        await writes.close()
    }

    /// - Throws: ``Surprise``, with the title of the chapter it happened in.
    func tell(_ say: (String) -> Void) async throws {
        for (number, chapter) in chapters.enumerated() {
            say("\(number + 1). \(chapter.title)")
            do {
                for line in try await chapter.tell() { say("   \(line)") }
            } catch {
                throw Surprise("in \"\(chapter.title)\": \(error)")
            }
        }
        try expect(shop.client.callCount == 0, "\(shop.client.callCount) calls are still under way")
        say("The end: \(chapters.count) chapters, \(world.requestCount) requests at \(world.servers.count) servers.")
    }
}

/// Something that did not happen as the story has it.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Story {
    func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws {
        if !holds { throw Surprise(otherwise()) }
    }

    /// The error of something that must fail.
    func failure(of body: () async throws -> some Any) async throws -> APIError {
        do {
            throw Surprise("it succeeded with \(try await body())")
        } catch let error as APIError {
            return error
        }
    }

    /// The same app once more, from its start to its end.
    func running<Result>(
        over transport: any Transport = PlatformTransport.make(), vault: any CredentialVault = MemoryVault(),
        keys: ShopKeys? = nil, _ body: (ShopApp) async throws -> Result
    ) async throws -> Result {
        try await world.running(over: transport, vault: vault, keys: keys, events: events, body)
    }

    /// Cents as an amount.
    func amount(_ cents: Int) -> String {
        let rest = cents % 100
        return "\(cents / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// Where the story keeps files for a moment.
private enum Scratch {
    @TaskLocal static var folder: URL = FileManager.default.temporaryDirectory

    static func new() -> URL { folder.appendingPathComponent("shop-\(UUID().uuidString)") }
}

/// A folder of its own for what `body` does, which goes with it.
@MainActor
func inFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = Scratch.new()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
