#if os(Linux)
    import CKernelKeyring
    import Foundation
    import PenstockCore

    extension VaultKey {
        /// A key of the type `user` in Linux's kernel, which never comes to a disk (keyrings(7)): put there by
        /// ``KernelKeyring/add(_:name:lifetime:)`` or by `keyctl padd user NAME @u`.
        ///
        /// It is looked for in the user's keyring (`@u`), and in those of the process and of its session where that has
        /// none. While it is nowhere, because it has expired, or the machine was started anew, the vault is
        /// ``VaultError/locked``; by a name that no key can have, it is ``VaultError/invalid``.
        ///
        /// - Parameter name: 1 to 4,095 bytes of UTF-8 without a NUL.
        public static func kernelKeyring(_ name: String) -> VaultKey {
            VaultKey(origin: .held { () throws(VaultError) in try KernelKeyring.key(name) })
        }
    }

    /// The keys that Linux's kernel holds for the user, in the user's keyring (`@u`).
    public enum KernelKeyring {
        /// What is longer is no key of ours.
        private static let limit = 4_096

        /// Unlocks the vaults whose key has this name, for every program of the user's.
        ///
        /// - Parameters:
        ///   - key: ``VaultKey/size`` bytes; takes the place of one that has the name.
        ///   - name: 1 to 4,095 bytes of UTF-8 without a NUL.
        ///   - lifetime: after which the kernel forgets it, in whole seconds, and one second at least; `nil`, the default, keeps
        ///     it until it is removed, or the machine is started anew.
        /// - Throws: ``VaultError/invalid`` for a key, a name or a lifetime that is none, and nothing is changed then;
        ///   ``VaultError/denied`` where the process may not, as in many containers; ``VaultError/unavailable`` where
        ///   the user's quota is used up.
        public static func add(_ key: Data, name: String, lifetime: Duration? = nil) throws(VaultError) {
            try check(name)
            guard key.count == VaultKey.size, lifetime.map({ $0 > .zero }) ?? true else { throw .invalid }
            let bytes = [UInt8](key)
            // Nothing is "for good" to the kernel.
            let seconds = lifetime.map { UInt32(clamping: max($0.components.seconds, 1)) } ?? 0
            guard ckernelkeyring_add(name, bytes, bytes.count, seconds, KEY_SPEC_USER_KEYRING) == 0 else {
                throw VaultError(keyErrno: errno)
            }
        }

        /// Locks the vaults whose key has this name, unless a keyring of the session has one as well, which stays.
        ///
        /// - Returns: whether there was one in the user's keyring.
        /// - Throws: ``VaultError/denied`` where the process may not remove it; ``VaultError/invalid`` for a name that no key can
        ///   have.
        @discardableResult
        public static func remove(name: String) throws(VaultError) -> Bool {
            try check(name)
            let key = ckernelkeyring_find(name, KEY_SPEC_USER_KEYRING)
            guard key >= 0 else {
                let error = VaultError(keyErrno: errno)
                if error == .locked { return false }
                throw error
            }
            guard ckernelkeyring_remove(key, KEY_SPEC_USER_KEYRING) == 0 else { throw VaultError(keyErrno: errno) }
            return true
        }

        /// What is written in C takes a name for ended at a NUL, and would open another key.
        private static func check(_ name: String) throws(VaultError) {
            guard (1...4_095).contains(name.utf8.count), !name.utf8.contains(0) else { throw .invalid }
        }

        static func key(_ name: String) throws(VaultError) -> Data {
            try check(name)
            let key = try find(name)
            var bytes = [UInt8](repeating: 0, count: limit)
            let count = ckernelkeyring_read(key, &bytes, limit)
            guard count >= 0 else { throw VaultError(keyErrno: errno) }
            guard count <= limit else { throw .corrupt }
            return Data(bytes.prefix(count))
        }

        /// The user's keyring comes first, since ``add(_:name:lifetime:)`` writes there: a key of the same name in the
        /// session's would hide that one otherwise. The others follow for who puts keys there by other means.
        private static func find(_ name: String) throws(VaultError) -> Int32 {
            var key = ckernelkeyring_find(name, KEY_SPEC_USER_KEYRING)
            if key < 0, VaultError(keyErrno: errno) == .locked { key = ckernelkeyring_find_anywhere(name) }
            guard key >= 0 else { throw VaultError(keyErrno: errno) }
            return key
        }
    }

    extension VaultError {
        /// What the kernel says of a key.
        init(keyErrno code: Int32) {
            self =
                switch code {
                case ENOKEY, EKEYEXPIRED, EKEYREVOKED: .locked
                case EACCES, EPERM: .denied
                default: .unavailable
                }
        }
    }
#endif
