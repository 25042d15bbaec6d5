/// Mistakes that sync engines and their surroundings make, built in on purpose. The simulation has to find each of them.
package enum PlantedFault: String, CaseIterable, Codable, Sendable {
  // MARK: The ledger's

  /// A move from a place that the device has not seen is accepted.
  case moveBaseIgnored
  /// A deletion by a device that has not seen the last change is accepted.
  case deleteBaseIgnored
  /// A folder is deleted with items in it.
  case folderDeletedWithChildren
  /// A folder may be moved into itself.
  case cycleAccepted
  /// "Letter" and "letter" may be in one folder.
  case caseSensitiveNames

  // MARK: The engine's

  /// A change whose answer was lost is sent again as a new one.
  case retryWithNewKey
  /// The losing content of a conflict is overwritten at once.
  case conflictNotKept
  /// Deletions in the cloud are not heard of.
  case tombstoneIgnored
  /// A download that was overtaken by a newer content counts as the newer one.
  case oldDownloadApplied
  /// A placement counts as done when it is decided.
  case syncedBeforeAct
  /// An edit that was made during the upload counts as uploaded.
  case laterStampAcknowledged
  /// A deletion in the cloud removes an edited document.
  case removalBeatsEdit
  /// A placement before a crash is not recognized after it.
  case placementForgotten
  /// A change in the cloud is not part of the next delta.
  case dirtyMarkForgotten

  // MARK: The device's

  /// The state is saved after the effects.
  case saveAfterEffects
  /// The anchor is saved before the page's items.
  case anchorSavedBeforePage
  /// A document that the user has just edited is replaced or removed.
  case stampNotChecked
  /// A download becomes visible before it is whole.
  case partialDownloadVisible
  /// A folder is removed with items that the user has just put into it.
  case fullFolderRemoved
  /// A download takes the name of a document that the user has just made.
  case placeOverwrites

  // MARK: The server's

  /// A change is stored after its answer.
  case answerBeforeStore
  /// Of a message with several changes, only the first one is stored before the answer.
  case messagePartlyStored
  /// Idempotency keys are forgotten when the server restarts.
  case receiptsNotStored
}
