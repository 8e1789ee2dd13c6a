#if os(Linux)
    import Foundation

    /// The few functions of sd-bus (sd-bus(3)), which speaks D-Bus, as they stand in `sd-bus.h`. The library is loaded when it is
    /// first needed and not linked: a server that has no desktop has no use for it, and may not have it.
    struct BusLibrary: Sendable {
        typealias Handle = OpaquePointer
        typealias Text = UnsafePointer<CChar>
        typealias Open = @Sendable @convention(c) (UnsafeMutablePointer<Handle?>) -> Int32
        typealias SetText = @Sendable @convention(c) (Handle, Text) -> Int32
        typealias SetFlag = @Sendable @convention(c) (Handle, Int32) -> Int32
        typealias Plain = @Sendable @convention(c) (Handle) -> Int32
        typealias Release = @Sendable @convention(c) (Handle) -> Handle?
        typealias NewCall =
            @Sendable @convention(c) (
                Handle, UnsafeMutablePointer<Handle?>, Text, Text, Text, Text
            ) -> Int32
        typealias Call =
            @Sendable @convention(c) (
                Handle, Handle, UInt64, UnsafeMutableRawPointer?, UnsafeMutablePointer<Handle?>
            ) -> Int32
        typealias Append = @Sendable @convention(c) (Handle, CChar, UnsafeRawPointer?) -> Int32
        typealias AppendArray = @Sendable @convention(c) (Handle, CChar, UnsafeRawPointer?, Int) -> Int32
        typealias Enter = @Sendable @convention(c) (Handle, CChar, Text) -> Int32
        typealias Read = @Sendable @convention(c) (Handle, CChar, UnsafeMutableRawPointer?) -> Int32
        typealias ReadArray =
            @Sendable @convention(c) (
                Handle, CChar, UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>
            ) -> Int32
        typealias Skip = @Sendable @convention(c) (Handle, Text?) -> Int32
        typealias FreeError = @Sendable @convention(c) (UnsafeMutableRawPointer) -> Void

        let new: Open
        let setAddress: SetText
        let setBusClient: SetFlag
        let start: Plain
        let close: Release
        let newCall: NewCall
        let call: Call
        let append: Append
        let appendArray: AppendArray
        let openContainer: Enter
        let closeContainer: Plain
        let enterContainer: Enter
        let exitContainer: Plain
        let read: Read
        let readArray: ReadArray
        let skip: Skip
        let release: Release
        let freeError: FreeError

        /// `nil` where neither systemd's library is there nor that of elogind, which has the same functions.
        static let shared = BusLibrary()

        private init?() {
            guard let library = dlopen("libsystemd.so.0", RTLD_NOW) ?? dlopen("libelogind.so.0", RTLD_NOW),
                let new = dlsym(library, "sd_bus_new"), let setAddress = dlsym(library, "sd_bus_set_address"),
                let setBusClient = dlsym(library, "sd_bus_set_bus_client"), let start = dlsym(library, "sd_bus_start"),
                let close = dlsym(library, "sd_bus_flush_close_unref"),
                let newCall = dlsym(library, "sd_bus_message_new_method_call"),
                let call = dlsym(library, "sd_bus_call"),
                let append = dlsym(library, "sd_bus_message_append_basic"),
                let appendArray = dlsym(library, "sd_bus_message_append_array"),
                let openContainer = dlsym(library, "sd_bus_message_open_container"),
                let closeContainer = dlsym(library, "sd_bus_message_close_container"),
                let enterContainer = dlsym(library, "sd_bus_message_enter_container"),
                let exitContainer = dlsym(library, "sd_bus_message_exit_container"),
                let read = dlsym(library, "sd_bus_message_read_basic"),
                let readArray = dlsym(library, "sd_bus_message_read_array"),
                let skip = dlsym(library, "sd_bus_message_skip"), let release = dlsym(library, "sd_bus_message_unref"),
                let freeError = dlsym(library, "sd_bus_error_free")
            else { return nil }
            self.new = unsafeBitCast(new, to: Open.self)
            self.setAddress = unsafeBitCast(setAddress, to: SetText.self)
            self.setBusClient = unsafeBitCast(setBusClient, to: SetFlag.self)
            self.start = unsafeBitCast(start, to: Plain.self)
            self.close = unsafeBitCast(close, to: Release.self)
            self.newCall = unsafeBitCast(newCall, to: NewCall.self)
            self.call = unsafeBitCast(call, to: Call.self)
            self.append = unsafeBitCast(append, to: Append.self)
            self.appendArray = unsafeBitCast(appendArray, to: AppendArray.self)
            self.openContainer = unsafeBitCast(openContainer, to: Enter.self)
            self.closeContainer = unsafeBitCast(closeContainer, to: Plain.self)
            self.enterContainer = unsafeBitCast(enterContainer, to: Enter.self)
            self.exitContainer = unsafeBitCast(exitContainer, to: Plain.self)
            self.read = unsafeBitCast(read, to: Read.self)
            self.readArray = unsafeBitCast(readArray, to: ReadArray.self)
            self.skip = unsafeBitCast(skip, to: Skip.self)
            self.release = unsafeBitCast(release, to: Release.self)
            self.freeError = unsafeBitCast(freeError, to: FreeError.self)
        }
    }
#endif
