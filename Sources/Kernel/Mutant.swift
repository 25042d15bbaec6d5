#if AMBIT_MUTANTS
  #if canImport(Glibc)
    internal import Glibc
  #endif

  /// Deliberate faults, to check the conformance suite. A process has the one that `AMBIT_MUTANT` names.
  ///
  /// Only `make mutants` builds them. Each place of a fault asks ``isActive``, and stands in the same condition as this file.
  package enum Mutant: String, CaseIterable, Sendable {
    // SBX
    case homeShown, wrongErrno, pickNamesFolder, documentsAlwaysShared, scopeChangesAtOnce, pickedProgramsRun
    case siblingsShown, linkFollowed, pathAlone, twoDotsFollowed, sensitiveAllowed, refusalUnwritten, strangerAdmitted
    case programsShare, entitlementsUnasked, answerForgotten, updateIsStranger
    // PCK
    case typesIgnored, severalForOne, lastFolderForgotten, closedRequestStays, swappedRowChosen, linkEndUnsaid
    case terminalUntaken, cancelIsChoice, invalidAsked, pickedLinkRefused, scriptIsUser
    // TOK
    case startedByPick, nothingShown, stopLeavesMount, stopEndsAll, countsForApp, stopLeavesDebt, stopTakesAnothers
    case pathHasScope, tokenForEver, containerStarts, endUnnoticed, pickNeverStarts, readOnlyIgnored, pickWrites
    case anyToken, leakUnnamed, strictSpares, secondGrant, passesMore, passesAlways, releaseIgnored, setUserID
    // LIM
    case limitHigher, limitLower, fullStarts, slotsLost, slotsOutlive, nestedTakeSlots, implicitStartFree
    case placeForgotten, holdersUnnamed, quotaIgnored, recentUnbounded
    // BMK
    case noSearch, neverStale, alwaysStale, anyAppOpens, anchorIgnored, readOnlyDropped, optionsCombined
    case implicitAnyway, nameForgotten, trashUnsaid, grantsForgotten, saveUnfollowed, policyUnasked, takenUnsaid
    case containedByPath, unstartedBookmark, webOptionsKept, sealUnchecked
    // REF
    case noReference, referenceOutlives, orphansStay, bookmarkKeepsNothing
    // RST
    case nothingRestored, savedAnyway, oldStateKept
    // AUD
    case revokeLeavesMount, revokeUnstored, revokeOneLaunch, parentUnwritten, stopUnwritten, badSealUnwritten
    case gapInNumbers, chainUnchecked, revokesUnread, rulesAlwaysHold, watchersUntold, damageHidden, descendantsStay
    case removedAppKeeps, brokerLeavesMounts, whySaysYes
    // FSF
    case leftoverStays, hostSaveUnfollowed, renameBusy, nothingBrought, folderWatchersUntold, sidecarsLost
    case placeAlwaysTold
    // PRV
    case placeholderReadable, writeNotSent, lastAccessKeeps, linkOutOfStorage, unsentEvicted, deletionNotRejected
    case uploadUntold

    /// The variable that names the fault. Ambit's processes hand it on.
    package static let variable = "AMBIT_MUTANT"

    private static let chosen: Mutant? = {
      guard let name = unsafe getenv(variable) else { return nil }
      return Mutant(rawValue: unsafe String(cString: name))
    }()

    /// Whether this process has the fault.
    package var isActive: Bool { self == Self.chosen }

    /// The fault in a sentence.
    package var sentence: String { fault.sentence }
    /// The statements of the catalogue whose scenarios must see it; one of them is enough.
    package var statements: [String] { fault.statements }

    private var fault: (statements: [String], sentence: String) {
      switch self {
      case .homeShown: (["SBX-2"], "The sandbox shows the user's home.")
      case .wrongErrno: (["SBX-3", "SBX-16"], "A refusal by the sandbox is EACCES.")
      case .pickNamesFolder: (["SBX-5"], "The answer to a pick has the document's whole path as its name.")
      case .documentsAlwaysShared: (["SBX-6"], "Pickers show the Documents of each app, whatever its manifest says.")
      case .scopeChangesAtOnce: (["SBX-7"], "A changed public scope counts without a new version.")
      case .pickedProgramsRun: (["SBX-8"], "A shown document lacks the mark against programs.")
      case .siblingsShown: (["SBX-9"], "The folder around a started document is the user's own.")
      case .linkFollowed: (["SBX-11"], "A link in a document's last place is followed.")
      case .pathAlone: (["SBX-12", "BMK-13", "FSF-14"], "The file at the last path is taken for the document.")
      case .twoDotsFollowed: (["SBX-13"], "A path with two dots leads out of a granted folder.")
      case .sensitiveAllowed: (["SBX-15"], "Each place can be granted.")
      case .refusalUnwritten: (["SBX-16"], "A refused open is not written down.")
      case .strangerAdmitted: (["SBX-17"], "A bundle with another app's identifier is that app.")
      case .programsShare: (["SBX-18"], "A program's identifier comes from its file name alone.")
      case .entitlementsUnasked: (["SBX-19"], "Entitlements that widen are given without a question.")
      case .answerForgotten: (["SBX-19"], "The answer about an entitlement is not remembered.")
      case .updateIsStranger: (["SBX-20"], "An app that was updated in place is another app.")
      case .typesIgnored: (["PCK-7"], "A file of each type can be chosen.")
      case .severalForOne: (["PCK-8"], "The user can choose several documents for a question about one.")
      case .lastFolderForgotten: (["PCK-12"], "The picker does not start in the folder of the last choice.")
      case .closedRequestStays: (["PCK-19"], "The picker stays when the app closes its request.")
      case .swappedRowChosen: (["PCK-23"], "A file that replaced the shown one can be chosen.")
      case .linkEndUnsaid: (["PCK-24"], "The row of a link does not show where it leads.")
      case .terminalUntaken: (["PCK-25"], "The picker writes to the terminal as the app left it.")
      case .cancelIsChoice: (["PCK-9"], "A cancelled picker counts as a choice of nothing.")
      case .invalidAsked: (["PCK-20"], "An invalid request reaches the user as a valid one.")
      case .pickedLinkRefused: (["PCK-21"], "A picked link is not followed.")
      case .scriptIsUser: (["PCK-22"], "A grant that a script made is recorded as the user's.")
      case .startedByPick: (["TOK-1"], "Each picked document arrives started.")
      case .nothingShown: (["TOK-2"], "A start succeeds and shows nothing.")
      case .stopLeavesMount: (["TOK-3", "TOK-12"], "The last stop leaves the document where it is.")
      case .stopEndsAll: (["TOK-4"], "One stop ends all starts of a document.")
      case .countsForApp: (["TOK-4"], "Starts are counted for the app and not for the process.")
      case .stopLeavesDebt: (["TOK-5"], "A stop without a start takes the next start away.")
      case .stopTakesAnothers: (["TOK-6"], "A stop without a start takes one from another document.")
      case .pathHasScope: (["TOK-7"], "The path of a scoped URL has its scope.")
      case .tokenForEver: (["TOK-9", "RST-2"], "A token holds for all launches of the app.")
      case .containerStarts: (["TOK-10"], "A start of a file in the container succeeds.")
      case .endUnnoticed: (["TOK-11"], "The end of a process is not noticed.")
      case .pickNeverStarts: (["TOK-13", "LIM-7"], "No picked document arrives started.")
      case .readOnlyIgnored: (["TOK-14", "BMK-6"], "A scope for reading is mounted writable.")
      case .pickWrites: (["TOK-14"], "A pick for reading gives the right to write.")
      case .anyToken: (["TOK-15"], "A token holds for each app.")
      case .leakUnnamed: (["TOK-16", "TOK-20"], "A leaked handle is not written down.")
      case .strictSpares: (["TOK-16"], "No policy ends an app for a leaked handle.")
      case .secondGrant: (["TOK-17"], "A second pick of a document makes a second grant.")
      case .passesMore: (["TOK-18"], "An app passes on the right to write without having it.")
      case .passesAlways: (["TOK-18"], "Each app may pass rights on.")
      case .releaseIgnored: (["TOK-19"], "An app that gives its grant up keeps it.")
      case .setUserID: (["TOK-21"], "The filter lets the set-user-ID bit pass.")
      case .limitHigher: (["LIM-1"], "A process has one slot more than its limit.")
      case .limitLower: (["LIM-1", "LIM-2"], "A process has one slot less than its limit.")
      case .fullStarts: (["LIM-1", "LIM-3"], "A start without a free slot is said to succeed.")
      case .slotsLost: (["LIM-2"], "A stop does not give its slot back.")
      case .slotsOutlive: (["LIM-4"], "The slots of an ended app stay taken.")
      case .nestedTakeSlots: (["LIM-5"], "Each nested start takes a slot.")
      case .implicitStartFree: (["LIM-7"], "A start by a bookmark takes no slot.")
      case .placeForgotten: (["LIM-8"], "The place of a start in the code is not kept.")
      case .holdersUnnamed: (["LIM-9"], "The message at the limit names no documents.")
      case .quotaIgnored: (["LIM-10"], "The quota of grants is not kept.")
      case .recentUnbounded: (["LIM-11"], "The list of recent documents drops nothing.")
      case .noSearch: (["BMK-1", "REF-4", "RST-3"], "A document is found in its last place alone.")
      case .neverStale: (["BMK-2"], "No bookmark is stale.")
      case .alwaysStale: (["BMK-2"], "Each bookmark is stale.")
      case .anyAppOpens: (["BMK-4", "REF-6"], "A bookmark opens for each app.")
      case .anchorIgnored: (["BMK-5"], "A bookmark in a project opens without the project.")
      case .readOnlyDropped: (["BMK-6"], "A bookmark for reading opens with all rights.")
      case .optionsCombined: (["BMK-7"], "A bookmark with a scope can be minimal.")
      case .implicitAnyway: (["BMK-8"], "A bookmark without an implicit scope has one.")
      case .nameForgotten: (["BMK-9", "BMK-22"], "A bookmark does not tell the document's name.")
      case .trashUnsaid: (["BMK-11"], "A document in the trash is not said to be there.")
      case .grantsForgotten: (["BMK-3", "AUD-10"], "A new broker knows no grants.")
      case .saveUnfollowed: (["BMK-12"], "A bookmark does not follow to a file that replaced the document.")
      case .policyUnasked: (["BMK-12"], "A bookmark follows although the policy refuses it.")
      case .takenUnsaid: (["BMK-13"], "Another file in the document's old place goes unmentioned.")
      case .containedByPath: (["BMK-17"], "A bookmark into the container is resolved by its path.")
      case .unstartedBookmark: (["BMK-18"], "A bookmark can be made without a started scope.")
      case .webOptionsKept: (["BMK-19"], "The bookmark of a web address depends on options.")
      case .sealUnchecked: (["BMK-20"], "The seal of a bookmark is not checked.")
      case .noReference: (["REF-1", "PCK-1"], "A pick leaves no reference.")
      case .referenceOutlives: (["AUD-1"], "A reference outlives its grant.")
      case .orphansStay: (["REF-7"], "A grant outlives its last reference.")
      case .bookmarkKeepsNothing: (["REF-7"], "A bookmark does not keep its grant.")
      case .nothingRestored: (["RST-1", "RST-3"], "The saved state is not read.")
      case .savedAnyway: (["RST-4"], "The state is saved although the app says no.")
      case .oldStateKept: (["RST-4"], "An earlier state stays when the app says no.")
      case .revokeLeavesMount: (["AUD-1", "AUD-2"], "A revoke leaves the document where it is.")
      case .revokeUnstored: (["AUD-1"], "A revoke is not stored.")
      case .revokeOneLaunch: (["AUD-2"], "A revoke reaches one running instance.")
      case .parentUnwritten: (["AUD-3"], "A grant's record does not say which grant it came from.")
      case .stopUnwritten: (["AUD-4"], "A stop is not written down.")
      case .badSealUnwritten: (["AUD-4", "BMK-20"], "A refused bookmark is not written down.")
      case .gapInNumbers: (["AUD-4"], "The log leaves a number out at each stop.")
      case .chainUnchecked: (["AUD-4"], "The log's check passes over a missing entry.")
      case .revokesUnread: (["AUD-5"], "The log's answers leave revocations out.")
      case .rulesAlwaysHold: (["AUD-6"], "Each rule holds for each log.")
      case .watchersUntold: (["AUD-7"], "Programs that watch are told nothing.")
      case .damageHidden: (["AUD-8"], "A damaged store is replaced by an empty one.")
      case .descendantsStay: (["AUD-9", "TOK-18"], "Grants outlive the grants that they were made from.")
      case .removedAppKeeps: (["AUD-9"], "A removed app keeps its grants.")
      case .brokerLeavesMounts: (["AUD-10"], "A broker that ends leaves documents where they are.")
      case .whySaysYes: (["AUD-13"], "The command why allows everything.")
      case .leftoverStays: (["FSF-1"], "A save leaves a hidden file beside the document.")
      case .hostSaveUnfollowed: (["FSF-2"], "A running app does not see the file that another program saved.")
      case .renameBusy: (["FSF-1", "FSF-3"], "A rename onto the document fails with EBUSY.")
      case .nothingBrought: (["FSF-4"], "A file from elsewhere cannot be renamed onto the document.")
      case .folderWatchersUntold: (["FSF-5"], "A watched folder does not tell of a replaced document.")
      case .sidecarsLost: (["FSF-6"], "The files beside a database are lost.")
      case .placeAlwaysTold: (["FSF-11"], "Each app is told the document's place on the host.")
      case .placeholderReadable: (["PRV-22", "COO-26"], "A placeholder can be read, and has zeros.")
      case .writeNotSent: (["PRV-4"], "A provider does not hear of a write.")
      case .lastAccessKeeps: (["PRV-5"], "A provider does not hear of the last access's end.")
      case .linkOutOfStorage: (["PRV-7"], "A provider's content may be a link out of its storage.")
      case .unsentEvicted: (["PRV-13"], "A document is evicted that the provider has not got.")
      case .deletionNotRejected: (["PRV-15"], "What the provider does not delete is gone here.")
      case .uploadUntold: (["DOC-10"], "A document does not hear that its content goes to the provider.")
      }
    }
  }
#endif
