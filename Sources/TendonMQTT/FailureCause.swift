// SPDX-License-Identifier: MIT
// Why TLS failed, in words. libmosquitto's code is one for all causes; what it logs has them in the words of OpenSSL.

enum FailureCause {
    private static let noTLS = "the port does not speak TLS: another port, or mqtt://"
    private static let table: [(mark: String, words: String)] = [
        ("host name verification failed", "the broker's certificate is for another host name"),
        (
            "certificate verify failed",
            "the broker's certificate is not trusted: self-signed, of an unknown authority, or not valid at this time; "
                + "--mqtt-ca names the authority"
        ),
        ("wrong version number", noTLS), ("packet length too long", noTLS), ("http request", noTLS),
        ("unexpected eof", "the port ended the connection before TLS began; a port without TLS needs mqtt://"),
        ("certificate required", "the broker requires a client certificate: --mqtt-certificate and --mqtt-key"),
        ("unknown ca", "the broker does not trust the client certificate"),
        ("bad certificate", "the broker rejects the client certificate"),
    ]

    /// Nil: nothing was logged.
    static func words(for complaints: [String]) -> String? {
        for row in table where complaints.contains(where: { $0.contains(row.mark) }) { return row.words }
        // "OpenSSL Error[0]: error:0A000086:SSL routines::REASON"
        return complaints.last?.split(separator: ":").last.map { "TLS: " + $0.drop { $0 == " " } }
    }
}
