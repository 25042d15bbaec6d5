extension KeyVocabulary {
  /// Entitlements, with their effects.
  package static let entitlements = KeyVocabulary(access + folders + exceptions + devices + services + signing)

  private static let access: [Group] = [
    .mapped(
      "every app runs in a sandbox, whether it asks or not; one that asks may pick and keep only what its other entitlements say",
      "com.apple.security.app-sandbox"),
    .mapped(
      "opens the network where the policy leaves it to the app (network.access = \"entitlement\")",
      "com.apple.security.network.client", "com.apple.security.network.server"),
    .mapped(
      "programs in what the user picks can be run, where the policy leaves it to the app (grants.execute = \"entitlement\")",
      "com.apple.security.files.user-selected.executable"),
    .mapped(
      "the app may pass its rights on, where the policy leaves it to the app (grants.pass = \"entitlement\")",
      "io.ambit.pass-grants"),
    .mapped(
      "with com.apple.security.app-sandbox: what the user picks can be read and not written; without either of the two, nothing can "
        + "be picked",
      "com.apple.security.files.user-selected.read-only"),
    .mapped(
      "with com.apple.security.app-sandbox: what the user picks can be read and written; without either of the two, nothing can be "
        + "picked",
      "com.apple.security.files.user-selected.read-write"),
    .mapped(
      "with com.apple.security.app-sandbox: only with it the app keeps bookmarks and references of what it was granted",
      "com.apple.security.files.bookmarks.app-scope"),
    .mapped(
      "with com.apple.security.app-sandbox: only with it the app makes bookmarks that belong to a document",
      "com.apple.security.files.bookmarks.document-scope"),
    .idle(
      "apps share no folder: each has a container of its own, and documents are passed on by grants",
      "com.apple.security.application-groups"),
  ]

  private static let folders: [Group] = [
    .idle(
      "no folder is open to an app by itself: the user picks it, and the grant lasts",
      "com.apple.security.files.downloads.read-only", "com.apple.security.files.downloads.read-write",
      "com.apple.security.files.all", "com.apple.security.assets.pictures.read-only",
      "com.apple.security.assets.pictures.read-write", "com.apple.security.assets.music.read-only",
      "com.apple.security.assets.music.read-write", "com.apple.security.assets.movies.read-only",
      "com.apple.security.assets.movies.read-write", "com.apple.security.files.desktop.read-only",
      "com.apple.security.files.desktop.read-write", "com.apple.security.files.documents.read-only",
      "com.apple.security.files.documents.read-write", "com.apple.security.assets.*", "com.apple.security.files.*")
  ]

  private static let exceptions: [Group] = [
    .idle(
      "no path is open to an app by its own word; a policy shows one read-only (system.read_only), the user picks any other",
      "com.apple.security.temporary-exception.files.absolute-path.read-only",
      "com.apple.security.temporary-exception.files.absolute-path.read-write",
      "com.apple.security.temporary-exception.files.home-relative-path.read-only",
      "com.apple.security.temporary-exception.files.home-relative-path.read-write"),
    .idle(
      "there are no Mach services on Linux", "com.apple.security.temporary-exception.mach-lookup.global-name",
      "com.apple.security.temporary-exception.mach-lookup.local-name",
      "com.apple.security.temporary-exception.mach-register.global-name",
      "com.apple.security.temporary-exception.mach-issue-extension"),
    .idle(
      "there are no preferences of other apps' to reach",
      "com.apple.security.temporary-exception.shared-preference.read-only",
      "com.apple.security.temporary-exception.shared-preference.read-write"),
    .idle(
      "rules in Apple's sandbox language are not read: what an app may is the policy's to say",
      "com.apple.security.temporary-exception.sbpl"),
    .idle(
      "there are no Apple events", "com.apple.security.temporary-exception.apple-events",
      "com.apple.security.scripting-targets", "com.apple.security.automation.apple-events"),
    .idle(
      "there is no IOKit", "com.apple.security.temporary-exception.iokit-user-client-class",
      "com.apple.security.temporary-exception.audio-unit-host",
      "com.apple.security.temporary-exception.yaml"),
    .idle(
      "an exception to Apple's sandbox, and Ambit's has none", "com.apple.security.temporary-exception.*"),
  ]

  private static let devices: [Group] = [
    .idle(
      "no device of the machine's is shown in a sandbox", "com.apple.security.device.camera",
      "com.apple.security.device.microphone", "com.apple.security.device.audio-input",
      "com.apple.security.device.usb", "com.apple.security.device.bluetooth", "com.apple.security.device.serial",
      "com.apple.security.device.firewire", "com.apple.security.device.audio-video-bridging",
      "com.apple.security.device.hid", "com.apple.security.print", "com.apple.security.device.*"),
    .idle(
      "there is no such collection of the user's in a sandbox", "com.apple.security.personal-information.addressbook",
      "com.apple.security.personal-information.calendars", "com.apple.security.personal-information.location",
      "com.apple.security.personal-information.photos-library", "com.apple.security.personal-information.*"),
  ]

  private static let services: [Group] = [
    .idle(
      "there is no iCloud: containers and documents stay on this machine",
      "com.apple.developer.icloud-container-identifiers", "com.apple.developer.icloud-services",
      "com.apple.developer.icloud-container-environment",
      "com.apple.developer.icloud-container-development-container-identifiers",
      "com.apple.developer.ubiquity-container-identifiers", "com.apple.developer.ubiquity-kvstore-identifier",
      "com.apple.developer.fileprovider.testing-mode", "com.apple.developer.fileprovider.local-files-access"),
    .idle(
      "a service of Apple's systems that Linux does not have", "com.apple.developer.associated-domains",
      "com.apple.developer.aps-environment", "aps-environment", "com.apple.developer.applesignin",
      "com.apple.developer.default-data-protection", "com.apple.developer.game-center", "com.apple.developer.healthkit",
      "com.apple.developer.homekit", "com.apple.developer.in-app-payments", "com.apple.developer.siri",
      "com.apple.developer.web-browser", "com.apple.developer.kernel.increased-memory-limit",
      "com.apple.developer.kernel.extended-virtual-addressing", "com.apple.developer.networking.*",
      "com.apple.developer.usernotifications.*", "com.apple.developer.*", "com.apple.external-accessory.*",
      "inter-app-audio"),
  ]

  private static let signing: [Group] = [
    .idle(
      "who the app is to its developer's signature; here CFBundleIdentifier says who it is",
      "application-identifier", "com.apple.application-identifier", "com.apple.developer.team-identifier",
      "beta-reports-active", "keychain-access-groups", "previous-application-identifiers"),
    .idle(
      "debugging another process is closed to apps by the system-call filter", "get-task-allow",
      "com.apple.security.get-task-allow", "com.apple.security.cs.debugger"),
    .idle(
      "a loosening of Apple's hardened runtime, which Linux does not have", "com.apple.security.cs.allow-jit",
      "com.apple.security.cs.allow-unsigned-executable-memory",
      "com.apple.security.cs.allow-dyld-environment-variables", "com.apple.security.cs.disable-library-validation",
      "com.apple.security.cs.disable-executable-page-protection", "com.apple.security.cs.*",
      "com.apple.security.hypervisor", "com.apple.security.virtualization", "com.apple.vm.*"),
    .idle(
      "how a helper's sandbox comes from its app's; a sandbox here has all of an app's processes in it",
      "com.apple.security.inherit"),
    .idle(
      "a right that Apple gives to its own programs; nothing here answers to it", "com.apple.private.*",
      "com.apple.rootless.*", "com.apple.system-task-ports*", "com.apple.security.exception.*",
      "com.apple.security.smartcard"),
  ]
}
