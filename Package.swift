// swift-tools-version: 6.1
// SPDX-License-Identifier: MIT
import PackageDescription

/// Folders that are no sources.
let others = ["Bench", "LICENSES", "Tests", "cross", "docs", "examples", "packaging", "programs", "scripts"]

let package = Package(
    name: "tendon",
    products: [
        .library(name: "Tendon", targets: ["Tendon"]),
        .library(name: "TendonBose", targets: ["TendonBose"]),
        .library(name: "TendonActiv5", targets: ["TendonActiv5"]),
        .library(name: "TendonFeelSpace", targets: ["TendonFeelSpace"]),
        .library(name: "TendonFjorden", targets: ["TendonFjorden"]),
        .library(name: "TendonObvious", targets: ["TendonObvious"]),
        .library(name: "TendonObviousCloud", targets: ["TendonObviousCloud"]),
        .library(name: "TendonFoundation", targets: ["TendonFoundation"]),
        .library(name: "TendonGateway", targets: ["TendonGateway"]),
        .executable(name: "tendon", targets: ["TendonCommand"]),
        .executable(name: "tendon-conformance", targets: ["TendonConformance"]),
        .executable(name: "stream-bose", targets: ["StreamBose"]),
        .executable(name: "heart-rate", targets: ["HeartRate"]),
        .executable(name: "gateway-service", targets: ["GatewayService"]),
    ],
    traits: [
        .trait(
            name: "BlueZ",
            description: "The kernel's controllers through libbluetooth. A program built with it is GPL-2.0-or-later."),
        .trait(
            name: "KernelSockets",
            description:
                "The kernel's controllers without libbluetooth, by Tendon's own description of the sockets: instead of BlueZ."
        ),
        .trait(
            name: "MainActorLoop",
            description:
                "TendonActor is the main actor, and the main queue drives the loop: for code written for phones."),
        .trait(
            name: "ObviousCloud",
            description:
                "The cloud of Obvious devices over HTTPS, with libcurl; without it, bring an own implementation."),
        .trait(
            name: "LSL",
            description:
                "The command offers samples as streams of the Lab Streaming Layer, by the liblsl of the machine."),
        .trait(
            name: "MQTT",
            description: "The command publishes to an MQTT broker, with libmosquitto and SQLite."),
        .trait(
            name: "Metrics",
            description: "The command writes metrics for operators, as OpenMetrics text."),
        .trait(
            name: "OSC",
            description:
                "The command sends samples and orientations to programs of sound, by Open Sound Control and OpenTrack."),
        .trait(
            name: "Web",
            description: "The command serves a page that shows the devices, with libmicrohttpd."),
        .default(enabledTraits: ["BlueZ", "LSL", "MQTT", "Metrics", "OSC", "ObviousCloud", "Web"]),
    ],
    targets: [
        // The same files as meson.build; a test compares the two lists.
        .target(
            name: "CTendon",
            dependencies: [.target(name: "CSystemBluetooth", condition: .when(traits: ["BlueZ"]))],
            path: ".",
            exclude: others + [
                "CSources/meson.build", "CSources/base/meson.build", "CSources/definition/meson.build",
                "CSources/devices/meson.build", "CSources/fleet/meson.build", "CSources/gateway/meson.build",
                "CSources/host/meson.build", "CSources/linux/meson.build", "CSources/linux/adapter/meson.build",
                "CSources/linux/pairing/meson.build", "CSources/linux/store/meson.build",
                "CSources/linux/virtual/meson.build",
                "CSources/motion/meson.build", "CSources/osc/meson.build", "CSources/replay/meson.build",
                "CSources/simulate/meson.build",
                "CSources/tools/meson.build",
            ],
            sources: ["CSources"],
            publicHeadersPath: "include",
            cSettings: [
                .define("_GNU_SOURCE"),
                .define("TENDON_HAVE_BLUEZ", to: "1", .when(traits: ["BlueZ", "KernelSockets"])),
                .define("TENDON_KERNEL_SOCKETS", to: "1", .when(traits: ["KernelSockets"])),
            ],
            linkerSettings: [
                .linkedLibrary("m"),
                .linkedLibrary("bluetooth", .when(traits: ["BlueZ"])),
            ]),
        // So that SwiftPM names the package that is missing; CTendon includes libbluetooth's headers by itself.
        .systemLibrary(
            name: "CSystemBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(
            name: "CSystemJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        // System calls that Swift does not import.
        .systemLibrary(name: "CSystemProcess"),
        // Of the conformance program alone: Ed25519 and SHA-256 behind the functions that a user gives the core.
        .systemLibrary(
            name: "CSystemSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        // Of the trait ObviousCloud. Debian has libcurl with three TLS libraries; any of them serves.
        .systemLibrary(
            name: "CSystemCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-gnutls-dev"])]),
        // Of the trait MainActorLoop.
        .systemLibrary(name: "CSystemEpoll"),
        .target(
            name: "Tendon",
            dependencies: ["CTendon", .target(name: "CSystemEpoll", condition: .when(traits: ["MainActorLoop"]))]),
        .target(name: "TendonBose", dependencies: ["CTendon", "Tendon"]),
        .target(name: "TendonActiv5", dependencies: ["CTendon", "Tendon"]),
        .target(name: "TendonFeelSpace", dependencies: ["CTendon", "Tendon"]),
        .target(name: "TendonFjorden", dependencies: ["CTendon", "Tendon"]),
        .target(name: "TendonObvious", dependencies: ["CTendon", "Tendon"]),
        // Every wearable in range, by the fleet of the C core.
        .target(name: "TendonGateway", dependencies: ["CTendon", "Tendon"]),
        // The parser of what a cloud sends: strict, in C, with a fuzz target of its own.
        .target(
            name: "CObviousCloud",
            dependencies: [.target(name: "CSystemJansson", condition: .when(traits: ["ObviousCloud"]))],
            cSettings: [.define("TENDON_HAVE_OBVIOUS_CLOUD", to: "1", .when(traits: ["ObviousCloud"]))]),
        .target(
            name: "TendonObviousCloud",
            dependencies: [
                "CTendon", "Tendon", "TendonObvious",
                .target(name: "CObviousCloud", condition: .when(traits: ["ObviousCloud"])),
                .target(name: "CSystemCurl", condition: .when(traits: ["ObviousCloud"])),
                .target(name: "CSystemSodium", condition: .when(traits: ["ObviousCloud"])),
                .target(name: "TendonSupport", condition: .when(traits: ["ObviousCloud"])),
            ]),
        // The one module with Foundation: texts of errors for programs that have it anyway.
        .target(
            name: "TendonFoundation",
            dependencies: [
                "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace", "TendonFjorden", "TendonGateway",
                "TendonObvious",
            ]),
        // What the programs share; not a product.
        .target(name: "TendonSupport", dependencies: ["CTendon", "CSystemJansson"]),
        // Of the trait MQTT: messages that wait on disk.
        .systemLibrary(
            name: "CSystemSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "TendonQueue", dependencies: ["CSystemSQLite"]),
        // Where events of the command go, and where commands from outside come from; not a product.
        .target(name: "TendonOutputs", dependencies: ["CTendon", "TendonSupport"]),
        // Of the trait MQTT.
        .systemLibrary(
            name: "CSystemMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .target(
            name: "TendonMQTT",
            dependencies: ["CSystemMosquitto", "CTendon", "TendonOutputs", "TendonQueue", "TendonSupport"]),
        // Of the trait Metrics.
        .target(name: "TendonMetrics", dependencies: ["CTendon", "TendonOutputs", "TendonSupport"]),
        // Samples as CSV.
        .target(name: "TendonRecording", dependencies: ["CTendon", "TendonOutputs", "TendonSupport"]),
        // Of the trait LSL. liblsl is opened when the program runs: it is no dependency of a build.
        .target(name: "TendonLSL", dependencies: ["CTendon", "TendonOutputs", "TendonSupport"]),
        // Of the trait OSC.
        .target(name: "TendonOSC", dependencies: ["CTendon", "TendonOutputs", "TendonSupport"]),
        // Of the trait Web. The files of the page are in the program.
        .systemLibrary(
            name: "CSystemMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .target(
            name: "TendonWeb",
            dependencies: ["CSystemMicrohttpd", "CTendon", "TendonOutputs", "TendonSupport"],
            resources: [.embedInCode("Page")]),
        .executableTarget(
            name: "TendonCommand",
            dependencies: [
                "CSystemProcess", "CTendon", "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace",
                "TendonObvious",
                "TendonObviousCloud",
                "TendonFjorden", "TendonOutputs", "TendonRecording", "TendonSupport",
                .target(name: "TendonLSL", condition: .when(traits: ["LSL"])),
                .target(name: "TendonMQTT", condition: .when(traits: ["MQTT"])),
                .target(name: "TendonMetrics", condition: .when(traits: ["Metrics"])),
                .target(name: "TendonOSC", condition: .when(traits: ["OSC"])),
                .target(name: "TendonWeb", condition: .when(traits: ["Web"])),
            ]),
        // Compares the library with test vectors; built, not installed.
        .executableTarget(
            name: "TendonConformance",
            dependencies: ["CSystemSodium", "CTendon", "Tendon", "TendonObvious", "TendonSupport"]),
        .executableTarget(
            name: "StreamBose", dependencies: ["TendonBose"], path: "examples/swift",
            exclude: ["GatewayService.swift", "HeartRate.swift"], sources: ["StreamBose.swift"]),
        .executableTarget(
            name: "HeartRate", dependencies: ["Tendon"], path: "examples/swift",
            exclude: ["GatewayService.swift", "StreamBose.swift"], sources: ["HeartRate.swift"]),
        .executableTarget(
            name: "GatewayService", dependencies: ["TendonGateway"], path: "examples/swift",
            exclude: ["HeartRate.swift", "StreamBose.swift"], sources: ["GatewayService.swift"]),
        .target(
            name: "BenchPeer", dependencies: ["CTendon"], path: "Bench/Swift/Peer", cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(
            name: "BenchForAwait", dependencies: ["BenchPeer", "Tendon"], path: "Bench/Swift/BenchForAwait"),
        .executableTarget(
            name: "BenchVendors",
            dependencies: ["BenchPeer", "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace", "TendonFjorden"],
            path: "Bench/Swift/BenchVendors"),
        .executableTarget(
            name: "BenchLines", dependencies: ["BenchPeer", "CTendon", "TendonOutputs", "TendonSupport"],
            path: "Bench/Swift/BenchLines"),
        // What the tests below share; no product.
        .target(name: "CCalls", path: "Tests/Swift/CCalls"),
        .target(name: "TestSupport", dependencies: ["CCalls", "Tendon"], path: "Tests/Swift/TestSupport"),
        .testTarget(
            name: "TendonTests", dependencies: ["CTendon", "Tendon", "TestSupport"], path: "Tests/Swift/TendonTests"),
        .testTarget(
            name: "TendonSupportTests", dependencies: ["CTendon", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonSupportTests"),
        .testTarget(
            name: "TendonQueueTests", dependencies: ["CSystemSQLite", "TendonQueue", "TestSupport"],
            path: "Tests/Swift/TendonQueueTests"),
        .testTarget(
            name: "TendonOutputsTests", dependencies: ["TendonOutputs", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonOutputsTests"),
        .testTarget(
            name: "TendonMetricsTests", dependencies: ["TendonMetrics", "TendonOutputs", "TestSupport"],
            path: "Tests/Swift/TendonMetricsTests"),
        .testTarget(
            name: "TendonMQTTTests",
            dependencies: ["TendonMQTT", "TendonOutputs", "TendonQueue", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonMQTTTests"),
        .testTarget(
            name: "TendonLSLTests",
            dependencies: ["TendonLSL", "TendonOutputs", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonLSLTests"),
        .testTarget(
            name: "TendonOSCTests",
            dependencies: ["CTendon", "TendonOSC", "TendonOutputs", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonOSCTests"),
        .testTarget(
            name: "TendonRecordingTests",
            dependencies: ["CTendon", "TendonOutputs", "TendonRecording", "TendonSupport", "TestSupport"],
            path: "Tests/Swift/TendonRecordingTests"),
        .testTarget(
            name: "TendonWebTests", dependencies: ["TendonOutputs", "TendonSupport", "TendonWeb", "TestSupport"],
            path: "Tests/Swift/TendonWebTests"),
        .testTarget(
            name: "TendonCommandTests",
            dependencies: [
                "CSystemProcess", "CTendon", "ObviousTestSupport", "Tendon", "TendonCommand", "TendonFeelSpace",
                "TendonObvious", "TendonOutputs", "TendonSupport", "TestSupport",
            ],
            path: "Tests/Swift/TendonCommandTests"),
        .testTarget(
            name: "TendonBoseTests", dependencies: ["CTendon", "Tendon", "TendonBose", "TestSupport"],
            path: "Tests/Swift/TendonBoseTests"),
        .testTarget(
            name: "TendonActiv5Tests", dependencies: ["Tendon", "TendonActiv5", "TestSupport"],
            path: "Tests/Swift/TendonActiv5Tests"),
        .testTarget(
            name: "TendonFeelSpaceTests", dependencies: ["CTendon", "Tendon", "TendonFeelSpace", "TestSupport"],
            path: "Tests/Swift/TendonFeelSpaceTests"),
        .testTarget(
            name: "TendonFjordenTests", dependencies: ["Tendon", "TendonFjorden", "TestSupport"],
            path: "Tests/Swift/TendonFjordenTests"),
        // Signed packages, a cloud of answers, and a device: what the tests of Obvious share.
        .target(
            name: "ObviousTestSupport",
            dependencies: ["CSystemSodium", "Tendon", "TendonObvious", "TendonObviousCloud", "TestSupport"],
            path: "Tests/Swift/ObviousTestSupport"),
        .testTarget(
            name: "TendonObviousTests",
            dependencies: ["CTendon", "ObviousTestSupport", "Tendon", "TendonObvious", "TestSupport"],
            path: "Tests/Swift/TendonObviousTests"),
        .testTarget(
            name: "TendonObviousCloudTests",
            dependencies: [
                "CSystemSodium", "CTendon", "ObviousTestSupport", "Tendon", "TendonObvious", "TendonObviousCloud",
                "TendonSupport", "TestSupport",
            ],
            path: "Tests/Swift/TendonObviousCloudTests"),
        .testTarget(
            name: "TendonGatewayTests",
            dependencies: ["CTendon", "Tendon", "TendonBose", "TendonFeelSpace", "TendonGateway", "TestSupport"],
            path: "Tests/Swift/TendonGatewayTests"),
        .testTarget(
            name: "TendonFoundationTests",
            dependencies: [
                "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace", "TendonFjorden", "TendonFoundation",
                "TendonGateway", "TendonObvious", "TestSupport",
            ],
            path: "Tests/Swift/TendonFoundationTests"),
        .testTarget(
            name: "CancellationTests",
            dependencies: [
                "CTendon", "ObviousTestSupport", "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace",
                "TendonFjorden", "TendonGateway", "TendonObvious", "TestSupport",
            ],
            path: "Tests/Swift/CancellationTests"),
        .testTarget(
            name: "Ports",
            dependencies: [
                "ObviousTestSupport", "Tendon", "TendonActiv5", "TendonBose", "TendonFeelSpace", "TendonFjorden",
                "TendonObvious", "TestSupport",
            ],
            path: "Tests/Swift/Ports"),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)

// For tests in another form of the loop, which the programs have no use for: the modules and their tests alone. "sample": of
// the tests the loop's own, and those that use every module.
if let form = Context.environment["TENDON_MODULES_ONLY"] {
    let programs = [
        "TendonCommand", "TendonConformance", "TendonLSL", "TendonMQTT", "TendonMetrics", "TendonOSC", "TendonOutputs",
        "TendonRecording", "TendonWeb",
    ]
    package.targets.removeAll { target in
        programs.contains { target.name == $0 || target.name == $0 + "Tests" } || target.name.hasPrefix("Bench")
    }
    package.products.removeAll { ["tendon", "tendon-conformance"].contains($0.name) }
    if form == "sample" {
        package.targets.removeAll { target in
            target.type == .test && !["CancellationTests", "Ports", "TendonTests"].contains(target.name)
        }
    }
}
