extension KeyVocabulary {
  /// Keys of an `Info.plist`, with their effects.
  package static let manifest = KeyVocabulary(identity + documents + types + sharing + appearance + system + build)

  private static let identity: [Group] = [
    .mapped("the name of its container and of its grants, to the broker and in the log", "CFBundleIdentifier"),
    .mapped("the program that is run, a file in the bundle's folder", "CFBundleExecutable"),
    .mapped("the name that people see", "CFBundleName"),
    .mapped(
      "the version in `ambit app list`; a changed NSUbiquitousContainers counts when it increases (SBX-7)",
      "CFBundleVersion"),
    .idle(
      "CFBundleName is the name that people see", "CFBundleDisplayName", "CFBundleSpokenName", "CFBundleSignature",
      "CFBundleGetInfoString", "NSHumanReadableCopyright", "CFBundleShortVersionString",
      "CFBundleInfoDictionaryVersion", "CFBundlePackageType"),
  ]

  private static let documents: [Group] = [
    .idle(
      "what a picker offers, the app says each time it asks; there is no opening of documents by type from outside",
      "CFBundleDocumentTypes"),
    .mapped(
      "if true, folders with these extensions are documents (packages)", "CFBundleDocumentTypes>LSTypeIsPackage"),
    .mapped(
      "if true, the app has files with these extensions beside a document of the same name, while it presents them (COO-25)",
      "CFBundleDocumentTypes>NSIsRelatedItemType"),
    .mapped(
      "extensions of packages, where LSTypeIsPackage is true, and of related items, where NSIsRelatedItemType is",
      "CFBundleDocumentTypes>CFBundleTypeExtensions"),
    .idle(
      "programs are opened by the user alone", "CFBundleURLTypes", "LSApplicationQueriesSchemes", "NSUserActivityTypes"),
    .idle(
      "there is no menu of services, and no opening of one app by another", "NSServices", "NSPrincipalClass",
      "NSAppleScriptEnabled", "OSAScriptingDefinition", "NSDocumentClass"),
    .idle(
      "no program of the desktop's loads it", "QLSupportedContentTypes", "CFPlugInTypes", "CFPlugInFactories",
      "CFPlugInDynamicRegistration", "CFPlugInDynamicRegisterFunction", "CFPlugInUnloadFunction", "NSExtension",
      "EXAppExtensionAttributes", "UTImportedTypeDeclarations>UTTypeIconFiles"),
  ]

  private static let types: [Group] = [
    .mapped(
      "types that conform to com.apple.package, directly or by one another, are packages: folders that are one document",
      "UTExportedTypeDeclarations", "UTImportedTypeDeclarations"),
    .idle(
      "for people's eyes alone; a type is known by its identifier and its extensions",
      "UTExportedTypeDeclarations>UTTypeDescription", "UTImportedTypeDeclarations>UTTypeDescription",
      "UTExportedTypeDeclarations>UTTypeIconFile", "UTImportedTypeDeclarations>UTTypeIconFile",
      "UTExportedTypeDeclarations>UTTypeIconFiles", "UTExportedTypeDeclarations>UTTypeIcons",
      "UTImportedTypeDeclarations>UTTypeIcons", "UTExportedTypeDeclarations>UTTypeReferenceURL",
      "UTImportedTypeDeclarations>UTTypeReferenceURL", "UTExportedTypeDeclarations>UTTypeSize320IconFile",
      "UTExportedTypeDeclarations>UTTypeSize64IconFile", "UTExportedTypeDeclarations>UTTypeVersion",
      "UTImportedTypeDeclarations>UTTypeVersion"),
    .idle(
      "packages are told by file name extension alone",
      "UTExportedTypeDeclarations>UTTypeTagSpecification>public.mime-type",
      "UTImportedTypeDeclarations>UTTypeTagSpecification>public.mime-type",
      "UTExportedTypeDeclarations>UTTypeTagSpecification>com.apple.ostype",
      "UTImportedTypeDeclarations>UTTypeTagSpecification>com.apple.ostype",
      "UTExportedTypeDeclarations>UTTypeTagSpecification>com.apple.nspboard-type",
      "UTImportedTypeDeclarations>UTTypeTagSpecification>com.apple.nspboard-type"),
  ]

  private static let sharing: [Group] = [
    .mapped("other apps' pickers show its Documents (SBX-6)", "UISupportsDocumentBrowser"),
    .mapped(
      "together with LSSupportsOpeningDocumentsInPlace: other apps' pickers show its Documents (SBX-6)",
      "UIFileSharingEnabled"),
    .mapped(
      "together with UIFileSharingEnabled: other apps' pickers show its Documents (SBX-6); documents are always opened in place",
      "LSSupportsOpeningDocumentsInPlace"),
    .idle(
      "there is no iCloud; of a container it counts whether its documents are public", "NSUbiquitousContainers"),
    .mapped(
      "other apps' pickers show its Documents (SBX-7)",
      "NSUbiquitousContainers>*>NSUbiquitousContainerIsDocumentScopePublic"),
    .idle(
      "one app's folder is its own, whatever its copies on other devices", "NSFileProviderDecorations", "UTTypes"),
  ]

  private static let appearance: [Group] = [
    .idle(
      "apps run in a terminal: there are no windows, icons, storyboards or menus", "CFBundleIconFile",
      "CFBundleIconFiles",
      "CFBundleIconName", "CFBundleIcons", "CFBundlePrimaryIcon", "CFBundleAlternateIcons", "CFBundleHelpBookFolder",
      "CFBundleHelpBookName", "NSMainNibFile", "NSMainStoryboardFile", "UIMainStoryboardFile", "UILaunchStoryboardName",
      "UILaunchScreen", "UILaunchScreens", "UILaunchImages", "UILaunchImageFile", "UIMainNibFile",
      "UIApplicationSceneManifest", "UISupportedInterfaceOrientations", "UIInterfaceOrientation", "UIStatusBarHidden",
      "UIStatusBarStyle", "UIStatusBarTintParameters", "UIViewControllerBasedStatusBarAppearance",
      "UIUserInterfaceStyle",
      "UIRequiresFullScreen", "UIPrerenderedIcon", "UIAppFonts", "ATSApplicationFontsPath",
      "UIApplicationShortcutItems",
      "NSHighResolutionCapable", "NSHighResolutionMagnifyAllowed", "NSSupportsAutomaticGraphicsSwitching",
      "NSRequiresAquaSystemAppearance", "LSUIElement", "LSBackgroundOnly", "LSUIPresentationMode", "NSAccentColorName",
      "NSWidgetWantsLocation", "CADisableMinimumFrameDurationOnPhone", "UIDesignRequiresCompatibility",
      "UIApplicationSupportsIndirectInputEvents", "UISupportsTrueScreenSizeOnMac", "UIViewEdgeAntialiasing",
      "UIViewGroupOpacity", "NSStatusItem*", "GCSupportedGameControllers", "GCSupportsControllerUserInteraction",
      "GCSupportsGameMode", "CLKComplication*", "WKApplication", "WKCompanionAppBundleIdentifier", "WKWatchKitApp",
      "UIUserInterfaceIdiom*", "CarPlay*", "CPSupports*", "NSTouchBar*")
  ]

  private static let system: [Group] = [
    .idle(
      "which of Apple's systems and devices it is for; this one is Linux", "LSMinimumSystemVersion",
      "LSMinimumSystemVersionByArchitecture", "MinimumOSVersion", "LSRequiresIPhoneOS", "LSRequiresNativeExecution",
      "LSArchitecturePriority", "LSEnvironment", "LSExecutableArchitectures", "UIDeviceFamily",
      "UIRequiredDeviceCapabilities", "CFBundleSupportedPlatforms", "LSApplicationCategoryType",
      "LSApplicationSecondaryCategoryType",
      "LSMultipleInstancesProhibited", "LSFileQuarantineEnabled", "LSFileQuarantineExcludedPathPatterns",
      "LSGetAppDiedEvents", "LSCounterpartIdentifiers", "LSHandlerRank", "LSInstallationType", "LSSupportsGameMode",
      "UIApplicationExitsOnSuspend", "NSSupportsSuddenTermination", "NSSupportsAutomaticTermination",
      "NSSupportsPurgeableLocalStorage", "UIRequiresPersistentWiFi", "MetalCaptureEnabled",
      "MTLCommandQueueMaxSubmittedCommandBuffer",
      "NSQuitAlwaysKeepsWindows", "UISupportsLiveActivities"),
    .idle(
      "an explanation that Apple's systems show when they ask for something; nothing of it is in a sandbox",
      "NSCameraUsageDescription", "NSMicrophoneUsageDescription", "NSPhotoLibraryUsageDescription",
      "NSPhotoLibraryAddUsageDescription", "NSContactsUsageDescription", "NSCalendarsUsageDescription",
      "NSRemindersUsageDescription", "NSLocationWhenInUseUsageDescription", "NSLocationAlwaysUsageDescription",
      "NSLocationUsageDescription", "NSLocationAlwaysAndWhenInUseUsageDescription", "NSBluetoothAlwaysUsageDescription",
      "NSBluetoothPeripheralUsageDescription", "NSFaceIDUsageDescription", "NSMotionUsageDescription",
      "NSSpeechRecognitionUsageDescription", "NSSiriUsageDescription", "NSAppleMusicUsageDescription",
      "NSHealthShareUsageDescription", "NSHealthUpdateUsageDescription", "NSHomeKitUsageDescription",
      "NSLocalNetworkUsageDescription", "NSUserTrackingUsageDescription", "NSAppleEventsUsageDescription",
      "NSSystemAdministrationUsageDescription", "NSDesktopFolderUsageDescription", "NSDocumentsFolderUsageDescription",
      "NSDownloadsFolderUsageDescription", "NSNetworkVolumesUsageDescription", "NSRemovableVolumesUsageDescription",
      "NSFileProviderDomainUsageDescription", "NSFileProviderPresenceUsageDescription", "NFCReaderUsageDescription",
      "NSCalendarsFullAccessUsageDescription", "NSCalendarsWriteOnlyAccessUsageDescription",
      "NSRemindersFullAccessUsageDescription", "NSLocationTemporaryUsageDescriptionDictionary",
      "NSVideoSubscriberAccountUsageDescription",
      "NSNearbyInteractionUsageDescription", "NSSensorKitUsageDescription", "NSIdentityUsageDescription"),
    .idle(
      "the network is all or nothing, by policy and entitlement", "NSAppTransportSecurity", "NSBonjourServices",
      "NSPinnedDomains", "NSAdvertisingAttributionReportEndpoint", "SKAdNetworkItems"),
    .idle(
      "an app runs as long as the user lets it; nothing wakes or stops it besides", "UIBackgroundModes",
      "BGTaskSchedulerPermittedIdentifiers", "UIApplicationSupportsTabbedSceneCollection",
      "UIApplicationSupportsMultipleScenes", "INIntentsSupported", "INIntentsRestrictedWhileLocked", "NSDockTilePlugIn",
      "SMPrivilegedExecutables", "SMAuthorizedClients", "UISupportedExternalAccessoryProtocols",
      "UIApplicationSupportsPrintCommand", "UINewsstandApp", "NSSupportsLiveActivities",
      "NSSupportsLiveActivitiesFrequentUpdates"),
    .idle(
      "a service of Apple's, with its store or its privacy rules", "ITSAppUsesNonExemptEncryption",
      "ITSEncryptionExportComplianceCode", "NSPrivacyAccessedAPITypes", "NSPrivacyTracking", "NSPrivacyTrackingDomains",
      "NSPrivacyCollectedDataTypes", "SUFeedURL", "SUPublicEDKey", "SUEnableAutomaticChecks",
      "SUEnableInstallerLauncherService",
      "SUPublicDSAKeyFile", "SUScheduledCheckInterval", "NSGoogle*", "GIDClientID", "FirebaseAppDelegateProxyEnabled",
      "AppIdentifierPrefix", "NSAppIconActionTintColorName"),
    .idle(
      "Ambit's messages are in English; an app speaks the languages it has", "CFBundleDevelopmentRegion",
      "CFBundleLocalizations", "CFBundleAllowMixedLocalizations", "CFAppleHelpAnchor", "LSHasLocalizedDisplayName"),
  ]

  private static let build: [Group] = [
    .idle(
      "what it was built with", "BuildMachineOSBuild", "DTCompiler", "DTPlatformBuild", "DTPlatformName",
      "DTPlatformVersion", "DTSDKBuild", "DTSDKName", "DTXcode", "DTXcodeBuild", "DTAppStoreToolsBuild",
      "CSResourcesFileMapped",
      "GitCommit", "UISupportsAssetPackages", "LSSharedCacheVersion")
  ]
}
