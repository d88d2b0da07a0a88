// SPDX-License-Identifier: MIT
// C arrays, texts and borrowed pointers as Swift values. Pointers of the C core stay in this file.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Termination {
    /// Wakes a loop of the C core when the end is requested. Keeps the loop's memory: the end may be requested after the
    /// loop was closed, which is harmless.
    func onRequest(wake loop: CBlock<tendon_loop>) { onRequest { tendon_loop_wake(loop.pointer) } }
}

extension CBytes {
    /// The bytes as C characters, for as long as the object lives.
    func lendText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        body(UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
    }
}

extension CBlock {
    /// An element of an array member, in place.
    func element<Tuple, Element>(
        _ path: KeyPath<Struct, Tuple>, _ index: Int, of type: Element.Type
    ) -> UnsafeMutablePointer<Element> {
        UnsafeMutableRawPointer(member(path)).assumingMemoryBound(to: Element.self) + index
    }
}

func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Whether a file that is written would take the place of another one; a device such as /dev/null is not replaced.
func isReplaceable(_ path: String) -> Bool {
    access(path, F_OK) == 0 && !WholeFile.isSpecial(path)
}

/// A whole file of text, unless it is too long.
func readText(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
    Array(withoutByteOrderMark(try readFile(path, limit: limit)))
}

/// The path that an operand means: "-" is standard input.
func inputPath(_ operand: String) -> String { operand == "-" ? "/dev/stdin" : operand }

/// A whole file, unless it is too long.
func readFile(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
    guard !path.isEmpty else { throw .usage("the name of a file is empty") }
    do throws(TendonError) { return try contents(of: path, limit: limit) } catch {
        throw CommandError(reading: path, limit: limit, error)
    }
}

/// The rest of an open file, unless it is too long.
func readFile(_ file: Int32, called path: String, limit: Int) throws(CommandError) -> [UInt8] {
    do throws(TendonError) { return try contents(of: file, limit: limit) } catch {
        throw CommandError(reading: path, limit: limit, error)
    }
}

extension CommandError {
    fileprivate init(reading path: String, limit: Int, _ error: TendonError) {
        let number = Int32(error.code)
        self.init(
            .failed, "\(sanitized(path)): \(number == EFBIG ? "longer than \(limit) bytes" : text(strerror(number)))")
    }
}
