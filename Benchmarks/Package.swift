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

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "ambit", path: "..")],
  targets: [
    .target(name: "CPortal", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
    .target(name: "Measure", swiftSettings: strict),
    .executableTarget(name: "bench", dependencies: ["CPortal", "Measure"], swiftSettings: strict),
  ]
)
