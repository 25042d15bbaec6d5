import Kernel
import Testing

@testable import ScopedAccess

struct AccessMethodTests {
  @Test(arguments: [
    // An ordinary user's app is the user.
    (false, false, false, AccessMethod.plainMount), (false, false, true, .plainMount),
    (false, true, false, .plainMount),
    (false, true, true, .plainMount),
    // Root's app is nobody that the document knows.
    (true, true, true, .idMappedMount), (true, true, false, .idMappedMount), (true, false, true, .plainMount),
    (true, false, false, .descriptors),
  ])
  func `An app that its user's id does not lead to a document gets descriptors, and never another id`(
    hasOwnID: Bool, isMappable: Bool, isAdmitted: Bool, expected: AccessMethod
  ) {
    let facts = AccessMethod.Facts(hasOwnID: hasOwnID, isMappable: isMappable, isAdmitted: isAdmitted)
    #expect(AccessMethod(facts) == expected)
  }

  @Test func `What a grant needs of the mode bits`() {
    #expect(AccessMethod.needed(isFolder: false, .readOnly) == .read)
    #expect(AccessMethod.needed(isFolder: false, .readWrite) == [.read, .write])
    #expect(AccessMethod.needed(isFolder: true, .readOnly) == [.read, .execute])
    #expect(AccessMethod.needed(isFolder: true, .readWrite) == [.read, .write, .execute])
  }

  @Test func `Only what is lost has a cost`() {
    #expect(AccessMethod.idMappedMount.cost == nil)
    #expect(AccessMethod.plainMount.cost?.contains("host id") == true)
    #expect(AccessMethod.descriptors.cost?.contains("EACCES") == true)
  }
}
