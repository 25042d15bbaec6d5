// swift-tools-version: 6.2
import Glibc
import PackageDescription

// Rooms are listed in the order in which they may depend on each other: a target depends only on
// targets above it. ARCHITECTURE.md says what each one holds and what it may touch.

/// Language settings of every target. Warnings are errors; every unsafe construct is marked where it stands.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// Rooms of rules that random tests play hundreds of thousands of times, or that each broker reads at its start: optimised in every build.
/// Their assertions hold in builds for debugging all the same.
let computing: [SwiftSetting] =
  strict + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Tests too; and a whole module in as few runs of the compiler as there are cores, since each run expands every macro of
/// the module anew.
let testing: [SwiftSetting] = strict + [.unsafeFlags(["-driver-batch-size-limit", "1000"])]

/// The toolchain's linker takes half the time of the system's. Packed relocations save a fifth of the work at a program's start; libc
/// reads them from 2.36 on.
let packing: [String] = {
  var text = [CChar](repeating: 0, count: 64)
  confstr(CInt(_CS_GNU_LIBC_VERSION), &text, text.count)
  let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  let version = words.split { !$0.isNumber }.compactMap { Int($0) }
  return version.lexicographicallyPrecedes([2, 36]) ? [] : ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
}()
let ownLinker: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"] + packing)]

/// Executables carry their Swift runtime with them: they start faster, and a program that runs inside
/// a sandbox needs no toolchain there. Tests stay dynamic (the testing libraries exist only so), which is
/// why this is said here, for each executable, and not on the command line for the whole build.
let selfContained: [LinkerSetting] =
  ownLinker + [
    .unsafeFlags(["-static-stdlib"]),
    .linkedLibrary("CoreFoundation"),
    .linkedLibrary("_FoundationICU"),
    .linkedLibrary("_FoundationCShims"),
    .linkedLibrary("_FoundationCollections"),
    .linkedLibrary("swiftSynchronization"),
  ]

/// FlyingFox has a client too, which needs this part of Foundation, and that one libcurl.
let foundationNetworking: [LinkerSetting] = [.linkedLibrary("_CFURLSessionInterface"), .linkedLibrary("curl")]

/// The launcher carries everything with it, libc included: loading and binding libraries would be the larger part of a
/// launch. It uses nothing that a static libc cannot do (no name service, no plug-ins).
let standalone: [LinkerSetting] = [.unsafeFlags(["-static-executable"])]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let flyingFox: Target.Dependency = .product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks: Target.Dependency = .product(name: "FlyingSocks", package: "FlyingFox")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let tomlKit: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

let package = Package(
  name: "ambit",
  products: [
    .executable(name: "ambit", targets: ["ambit"]),
    .executable(name: "ambit-tools", targets: ["ambit-tools"]),
    .executable(name: "ambit-web", targets: ["ambit-web"]),
    .executable(name: "ambit-draw", targets: ["ambit-draw"]),
    .executable(name: "ambitctl", targets: ["ambitctl"]),
    .executable(name: "ambit-agent", targets: ["ambit-agent"]),
    .executable(name: "plain-agent", targets: ["plain-agent"]),
    .executable(name: "TextEdit", targets: ["TextEdit"]),
    .executable(name: "Particles", targets: ["Particles"]),
    .executable(name: "Snippets", targets: ["Snippets"]),
    .executable(name: "battery", targets: ["battery"]),
    .library(name: "AmbitKit", targets: ["AmbitKit"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  targets: [
    .target(
      name: "CLinux",
      // Not as flags: a package with those in a library could not be used by version.
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(
      name: "CChafa", pkgConfig: "chafa", providers: [.apt(["libchafa-dev", "libglib2.0-dev"])]),
    .systemLibrary(name: "CPng", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CNettle", pkgConfig: "hogweed", providers: [.apt(["nettle-dev"])]),
    .target(name: "Cryptography", dependencies: ["CNettle"], swiftSettings: strict),
    .target(name: "Rulebook", swiftSettings: strict),
    .target(name: "Paths", swiftSettings: computing),
    .target(name: "Kernel", dependencies: ["CLinux", "Paths", system], swiftSettings: strict),
    .target(name: "UserFiles", dependencies: ["Kernel", "Paths", system], swiftSettings: strict),
    .target(name: "ContentTypes", dependencies: ["Kernel", "Paths", system], swiftSettings: computing),
    .target(name: "Thumbnails", dependencies: ["Kernel", "Paths", "Cryptography", system], swiftSettings: strict),
    .target(name: "Folders", dependencies: ["ContentTypes", "Kernel", "Paths", system], swiftSettings: strict),
    .target(name: "Terminal", dependencies: ["Kernel", system], swiftSettings: strict),
    .target(name: "Pages", dependencies: ["Paths", "Terminal", "Cryptography"], swiftSettings: strict),
    .target(
      name: "AppModel", dependencies: ["ContentTypes", "Kernel", "Paths", "Cryptography"], swiftSettings: computing),
    .target(name: "Sandbox", dependencies: ["Kernel", "Paths", system], swiftSettings: strict),
    .target(
      name: "Policy", dependencies: ["ContentTypes", "Kernel", "AppModel", "Paths", "Sandbox", system, tomlKit],
      // A link to the folder at the top: one text of each policy.
      resources: [.embedInCode("Policies")], swiftSettings: computing),
    .target(
      name: "Wire", dependencies: ["Kernel", "Paths"], resources: [.embedInCode("Interfaces")], swiftSettings: computing
    ),
    .target(
      name: "Seccomp", dependencies: ["Kernel", "CSeccomp", "Wire", "Cryptography", system], swiftSettings: strict),
    .target(
      name: "ScopedAccess",
      dependencies: ["Kernel", "Paths", "UserFiles", "Folders", "AppModel", "Cryptography", grdb, system],
      swiftSettings: strict),
    .target(name: "Query", dependencies: ["ContentTypes", "Paths"], swiftSettings: strict),
    .target(name: "Databases", dependencies: ["Folders", grdb], swiftSettings: strict),
    .target(name: "Catalog", dependencies: ["Paths", "Folders", "Query", grdb], swiftSettings: strict),
    .target(name: "FileProviders", dependencies: ["Databases", "Folders", "Paths", grdb], swiftSettings: strict),
    .target(name: "Audit", dependencies: ["Kernel", "Paths", "Cryptography", grdb], swiftSettings: strict),
    .target(name: "Decisions", dependencies: ["AppModel", "Policy"], swiftSettings: strict),
    .target(name: "Coordination", dependencies: ["Paths"], swiftSettings: computing),
    .target(name: "CrashStates", dependencies: ["Paths", "Cryptography"], swiftSettings: strict),
    .target(name: "CrashRecorder", dependencies: ["CrashStates", "Kernel", "Paths", system], swiftSettings: strict),
    .target(
      name: "Review",
      dependencies: [
        "ContentTypes", "Paths", "Decisions", "Terminal", "Pages", "AppModel", "Sandbox", "Policy", "Audit",
        "Cryptography",
      ],
      swiftSettings: strict),
    .target(name: "BrokerCore", dependencies: ["Kernel", "Wire"], swiftSettings: strict),
    .target(
      name: "Broker",
      dependencies: [
        "BrokerCore", "Coordination", "Cryptography", "Decisions", "Kernel", "Paths", "UserFiles", "Folders", "Seccomp",
        "AppModel", "ContentTypes", "Policy",
        "Wire",
        "ScopedAccess", "Query", "Catalog", "FileProviders", "Audit", system,
      ],
      swiftSettings: strict),
    .target(name: "CloudSync", dependencies: ["Paths"], swiftSettings: computing),
    .target(
      name: "Cloud",
      dependencies: [
        "BrokerCore", "CloudSync", "Databases", "Folders", "Kernel", "Paths", "Wire", "Cryptography", grdb, system,
      ],
      swiftSettings: strict),
    .target(
      name: "AmbitKit", dependencies: ["ContentTypes", "Kernel", "Paths", "Query", "Thumbnails", "Wire", system],
      swiftSettings: strict),
    .target(
      name: "PickerUI", dependencies: ["Terminal", "Kernel", "Paths", "UserFiles", system], swiftSettings: strict),
    .target(
      name: "Launcher",
      dependencies: ["Kernel", "Paths", "Folders", "Terminal", "Sandbox", "Wire", "PickerUI", system],
      swiftSettings: strict),
    .target(
      name: "WebPicker", dependencies: ["Kernel", "Paths", "PickerUI", "UserFiles", flyingFox, flyingSocks],
      swiftSettings: strict),
    .target(
      name: "Scenario", dependencies: ["Kernel", "Paths", "Terminal", "Policy", "Wire", system], swiftSettings: strict),
    .target(
      name: "Verification", dependencies: ["Kernel", "Paths", "Terminal", "Scenario", system], swiftSettings: strict),
    .target(
      name: "Conformance", dependencies: ["Kernel", "Pages", "Rulebook", "Scenario", "Wire"],
      swiftSettings: strict),
    .target(
      name: "Lessons", dependencies: ["Kernel", "Paths", "Pages", "Scenario", "Wire", system], swiftSettings: strict),
    .target(name: "CommandParsing", dependencies: [argumentParser], swiftSettings: strict),
    .target(
      name: "AmbitCommands",
      dependencies: [
        "CommandParsing",
        "ContentTypes", "Kernel", "Paths", "UserFiles", "Folders", "Seccomp", "Terminal", "Pages", "AppModel", "Policy",
        "Sandbox",
        "Wire", "ScopedAccess", "Audit", "Coordination", "Review", "Broker", "PickerUI", "Launcher", "Scenario",
        "Conformance", "Lessons", "Verification", "Rulebook", "CrashStates", "CrashRecorder", "Thumbnails",
        "FileProviders", "Cloud", "CloudSync",
        argumentParser,
        system,
      ], swiftSettings: strict),
    .executableTarget(
      name: "ambit", dependencies: ["Launcher"], swiftSettings: strict, linkerSettings: standalone),
    .executableTarget(
      name: "ambit-tools", dependencies: ["AmbitCommands"], swiftSettings: strict, linkerSettings: selfContained),
    .executableTarget(
      name: "ambit-web",
      dependencies: ["Folders", "Kernel", "Launcher", "PickerUI", "Terminal", "WebPicker", "Wire"],
      swiftSettings: strict, linkerSettings: selfContained + foundationNetworking),
    // Draws pictures with characters, inside a sandbox. C, so that it starts in a millisecond and needs nothing of Swift's there.
    .executableTarget(
      name: "ambit-draw", dependencies: ["CChafa", "CPng"],
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)],
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-Xclang-linker", "-Wl,--as-needed"])]),
    .executableTarget(
      name: "ambitctl", dependencies: ["AmbitKit", "CommandParsing", "Kernel", "Paths", argumentParser],
      swiftSettings: strict, linkerSettings: selfContained),
    .executableTarget(
      name: "TextEdit", dependencies: ["AmbitKit"], path: "Demos/TextEdit", swiftSettings: strict,
      linkerSettings: selfContained),
    .executableTarget(
      name: "Particles", dependencies: ["AmbitKit"], path: "Demos/Particles", swiftSettings: strict,
      linkerSettings: selfContained),
    .executableTarget(
      name: "Snippets", dependencies: ["AmbitKit"], path: "Demos/Snippets", swiftSettings: strict,
      linkerSettings: selfContained),

    // The escape battery's program: C, so that it needs nothing of Swift's inside a sandbox. The flags keep the linker
    // from adding it all the same.
    .executableTarget(
      name: "battery",
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)],
      linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-stdlib", "-Xclang-linker", "-Wl,--as-needed"])]),

    // The app under test of scenarios: a line-driven program that uses AmbitKit as an app does.
    // Its plain acts are C, so that they run wherever C does: under other systems, and as WebAssembly.
    .target(
      name: "CAgent", cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "plain-agent", dependencies: ["CAgent"], path: "Sources/agent-c", linkerSettings: standalone),
    .target(name: "Agent", dependencies: ["AmbitKit", "CAgent"], swiftSettings: strict),
    .executableTarget(
      name: "ambit-agent", dependencies: ["Agent"], swiftSettings: strict, linkerSettings: selfContained),

    // The same with further acts for Ambit's own tests.
    .executableTarget(
      name: "probe", dependencies: ["Agent", "AmbitKit"], path: "Tests/Probe", swiftSettings: strict,
      linkerSettings: selfContained),
    // A file provider that keeps the contract, or breaks it.
    .executableTarget(
      name: "test-provider", dependencies: ["AmbitKit"], path: "Tests/TestProvider", swiftSettings: strict,
      linkerSettings: selfContained),
    // Saves a document, to be recorded.
    .executableTarget(
      name: "document-saver", dependencies: ["Kernel", "ScopedAccess"], path: "Tests/DocumentSaver",
      swiftSettings: strict,
      linkerSettings: selfContained),
    // Writes logs for the benchmarks.
    .executableTarget(
      name: "logload", dependencies: ["Audit", "Kernel", "Policy"], path: "Tests/LogLoad", swiftSettings: strict,
      linkerSettings: selfContained),
    .target(
      name: "TestSupport", dependencies: ["BrokerCore", "Kernel", "CLinux"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"], swiftSettings: testing),
    .testTarget(name: "RulebookTests", dependencies: ["Rulebook"], swiftSettings: testing),
    .testTarget(
      name: "UserFilesTests", dependencies: ["Kernel", "UserFiles", "TestSupport", system], swiftSettings: testing),
    .testTarget(name: "PathsTests", dependencies: ["Paths", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "KernelTests", dependencies: ["Kernel", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", "TestSupport", system], swiftSettings: testing),
    .testTarget(name: "AppModelTests", dependencies: ["AppModel", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "PolicyTests", dependencies: ["Policy", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "ContentTypesTests", dependencies: ["ContentTypes", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "ThumbnailsTests", dependencies: ["Kernel", "Thumbnails", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "DatabasesTests", dependencies: ["Databases", "Folders", grdb], swiftSettings: testing),
    .testTarget(name: "FoldersTests", dependencies: ["Folders", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "SeccompTests", dependencies: ["Seccomp", "CSeccomp", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "SandboxTests", dependencies: ["Sandbox", "Paths", "Policy", "Seccomp", "TestSupport"],
      swiftSettings: testing),
    .testTarget(name: "WireTests", dependencies: ["Wire", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "ScopedAccessTests", dependencies: ["ScopedAccess", "AppModel", "TestSupport", "Cryptography"],
      swiftSettings: testing),
    .testTarget(name: "QueryTests", dependencies: ["Query", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "CatalogTests", dependencies: ["Catalog", "Query", "Paths", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "AuditTests", dependencies: ["Audit", "TestSupport", grdb], swiftSettings: testing),
    .testTarget(
      name: "ReviewTests",
      dependencies: [
        "Review", "Pages", "Audit", "Policy", "Sandbox", "AppModel", "Kernel", "Terminal", "TestSupport",
        "Cryptography",
      ],
      swiftSettings: testing
    ),
    .testTarget(
      name: "BrokerTests",
      dependencies: [
        "Audit", "Broker", "BrokerCore", "Folders", "Kernel", "ScopedAccess", "TestSupport", "Wire", system,
      ],
      swiftSettings: testing),
    .testTarget(
      name: "CoordinationTests", dependencies: ["Coordination", "Paths", "TestSupport", "Wire"], exclude: ["Scripts"],
      swiftSettings: testing),
    .testTarget(
      name: "CloudTests", dependencies: ["Cloud", "CloudSync", "Folders", "Kernel", "TestSupport", "Wire"],
      swiftSettings: testing),
    .testTarget(
      name: "CloudSyncTests", dependencies: ["CloudSync"], exclude: ["Scripts"], swiftSettings: testing),
    .testTarget(
      name: "CrashStatesTests", dependencies: ["CrashStates", "Paths", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "CrashRecorderTests",
      dependencies: ["CrashRecorder", "CrashStates", "Kernel", "Paths", "ScopedAccess", "TestSupport"],
      swiftSettings: testing),
    .testTarget(name: "DecisionsTests", dependencies: ["Decisions"], swiftSettings: testing),
    .testTarget(name: "BrokerCoreTests", dependencies: ["BrokerCore", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "AmbitKitTests", dependencies: ["AmbitKit", "Query", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "FileProvidersTests", dependencies: ["FileProviders", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "WebPickerTests", dependencies: ["WebPicker", "PickerUI"], swiftSettings: testing),
    .testTarget(
      name: "PickerUITests", dependencies: ["PickerUI", "TestSupport", "UserFiles", system], swiftSettings: testing),
    .testTarget(name: "ScenarioTests", dependencies: ["Scenario", "Policy", "TestSupport"], swiftSettings: testing),
    .testTarget(name: "LessonsTests", dependencies: ["Lessons", "Scenario"], swiftSettings: testing),
    .testTarget(name: "LauncherTests", dependencies: ["Launcher", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "AmbitCommandsTests",
      dependencies: [
        "AmbitCommands", "AppModel", "Audit", "CommandParsing", "Coordination", "Kernel", "Launcher", "Policy",
        "Review",
        "Rulebook", "Terminal", "TestSupport", "UserFiles", "Wire", argumentParser,
      ],
      swiftSettings: testing),
    .testTarget(
      name: "VerificationTests", dependencies: ["Verification", "Terminal", "TestSupport"], swiftSettings: testing),
    .testTarget(
      name: "ConformanceTests",
      dependencies: [
        "TestSupport", "Paths", "Kernel", "Folders", "Wire", "Audit", "ScopedAccess", "Review", "Conformance",
        "Rulebook",
        "Scenario", grdb,
      ],
      swiftSettings: testing, linkerSettings: ownLinker),
  ]
)

// The fuzzer brings a main of its own, and everything is compiled for it: only `make fuzz` asks for it.
if Context.environment["AMBIT_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["Wire", "ScopedAccess", "Kernel"], path: "Tests/Fuzz",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
