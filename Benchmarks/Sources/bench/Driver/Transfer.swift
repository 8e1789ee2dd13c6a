/// One GiB in one exchange, beside the `curl` tool.
struct Transfer: Experiment {
    let id: String
    private let isUpload: Bool

    static let download = Transfer(id: "X5.download", isUpload: false)
    static let upload = Transfer(id: "X5.upload", isUpload: true)
    private static let mebibytes = 1_024.0

    func outcome(_ setting: Setting) throws -> Outcome {
        var (own, curl): ([TransferContender.Measurement], [Double]) = ([], [])
        for _ in 0..<setting.rounds {
            let server = isUpload ? try Child(setting.program, ["server", "1"]) : nil
            let url = try server.map { "http://127.0.0.1:\(try $0.line())" } ?? setting.clear
            own.append(try measure(setting, url))
            curl.append(try secondsOfCurl(setting, url))
            try server?.finish()
        }
        var outcome = Outcome(id: id)
        let speeds = (
            own: Self.mebibytes / Outcome.median(own.map(\.seconds)), curl: Self.mebibytes / Outcome.median(curl)
        )
        outcome.mebibytesPerSecond = [Contender.penstock.rawValue: speeds.own, "curl": speeds.curl]
        outcome.ratioToCurl = speeds.own / speeds.curl
        outcome.overIdleMiB = own.map { Memory.mebibytes($0.peak - $0.idle) }.max()
        return outcome
    }

    private func measure(_ setting: Setting, _ url: String) throws -> TransferContender.Measurement {
        let arguments = isUpload ? ["upload", url, setting.gibibyte] : ["download", url]
        let child = try Child(setting.program, arguments, limit: 180)
        let measurement: TransferContender.Measurement = try child.value()
        try child.finish()
        return measurement
    }

    private func secondsOfCurl(_ setting: Setting, _ url: String) throws -> Double {
        let upload = isUpload ? ["--upload-file", setting.gibibyte] : []
        let curl = try Child(
            "curl",
            ["--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out", "%{time_total}\n"] + upload
                + ["\(url)/gibibyte"], limit: 180)
        let seconds: Double = try curl.value()
        try curl.finish()
        return seconds
    }
}
