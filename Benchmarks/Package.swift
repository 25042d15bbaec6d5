// swift-tools-version: 6.2
import PackageDescription

// A package of its own: a benchmark is no part of what is installed, and its driver may use what Ambit does not.

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let selfContained: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib"]),
  .linkedLibrary("CoreFoundation"),
  .linkedLibrary("_FoundationICU"),
  .linkedLibrary("_FoundationCShims"),
  .linkedLibrary("_FoundationCollections"),
  .linkedLibrary("swiftSynchronization"),
]

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "ambit", path: "..")],
  targets: [
    .target(name: "CPeers", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
    .target(name: "Measure", swiftSettings: strict),
    // It runs where there is no Swift: what it needs of it comes along, as with the demo apps.
    .executableTarget(
      name: "inside", dependencies: ["CPeers", "Measure", .product(name: "AmbitKit", package: "ambit")],
      swiftSettings: strict,
      linkerSettings: selfContained),
    .executableTarget(name: "bench", dependencies: ["CPeers", "Measure"], swiftSettings: strict),
  ]
)
