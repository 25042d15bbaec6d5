/// The policies that are there without any file on disk.
///
/// The texts are those of `Policies/*.toml`, which are the ones to edit; a test sees to it that the two are the same.
package enum BuiltinPolicies {
  /// File name without `.toml`, and text.
  package static let all: [String: String] = [
    "apple-identity": appleIdentityText,
    "batch": batchText,
    "browser": browserText,
    "default": defaultText,
    "developer": developerText,
    "editor": editorText,
    "game": gameText,
    "kiosk": kioskText,
    "media-player": mediaPlayerText,
    "observed": observedText,
    "stress": stressText,
    "strict": strictText,
    "teach": teachText,
    "untrusted": untrustedText,
    "viewer": viewerText,
  ]

  /// Their settings. A test makes sure that all of them can be read.
  static let overrides: [String: PolicyOverrides] = all.compactMapValues { text in
    try? PolicyOverrides(StrictTOML.parse(text, file: "built-in"))
  }

  private static let appleIdentityText = #"""
    # As iOS does it: a bookmark stands for one file, and not for what is put in its place.

    description = "The default, but a document that a program replaced when it saved is lost, as on iOS"
    inherits = "default"

    [bookmarks]
    replaced = "refuse"

    """#

  private static let defaultText = #"""
    # What an app gets when no policy is named.

    description = "One document at a time; the network only for apps that ask for it and that you allow it"

    [scopes]
    # How many documents each process of an app may have started at once: 1 to 100000, or a name for a number:
    # "teach" (8), "default" (256), "stress" (4096).
    limit = "default"
    # A picked document leaves a reference in the container's Documents folder, so that the app finds it again.
    references = true
    # Whether what the user picks is started when the app gets it, as with an open panel on macOS, or waits for its start as on iOS.
    start_picked = false
    # When a scope ends and the app still has something of the document open: "allow" (it is in the log, with what it can be used
    # for) or "end" (the app is ended).
    outlived = "allow"

    [picker]
    # What an app may ask for: "open" (the original), "import" (a copy), "export" (a copy of its own document), "move" (its own
    # document). This version's picker opens; the others are known here.
    modes = ["open", "import", "export", "move"]
    # The documents that may be picked, by extension or content type: "any", or for example ["public.text", "pdf"].
    types = "any"
    # Whether whole folders may be picked.
    folders = true

    [grants]
    # How many documents an app may keep its access to: "unlimited"; a number, after which a document that is picked is refused; or
    # another system's rule: "android" (512, then the oldest ends), "android-10" (128), "windows" (1000 that it keeps a bookmark or a
    # reference of, then refused; and of the others the 25 used last), "xdp" (no limit).
    persisted = "unlimited"
    # Whether an app may pass its own rights on to another app: "none", "any", or "entitlement": if its Entitlements.plist has
    # io.ambit.pass-grants.
    pass = "entitlement"
    # Whether an app may run programs that lie in what its user picked: "none", "any", or "entitlement": if its Entitlements.plist has
    # com.apple.security.files.user-selected.executable.
    execute = "entitlement"
    # Whether an app is told, when it asks, where on the host a document of its lies. Its name it knows in any case.
    host_paths = false
    # What may be done with documents at most, whatever the app asks for: "read-write" or "read-only".
    access = "read-write"
    # When a grant ends by itself: "forever" (when it is withdrawn), "launch" (with the launch that it was made in), a time after the
    # user's decision such as "8h" or "30d", or both: ["launch", "8h"].
    lifetime = "forever"

    [entitlements]
    # Whether an app gets the entitlements that widen what it has: those for the network, io.ambit.pass-grants and
    # com.apple.security.files.user-selected.executable. "ask": the user is asked at the app's first launch, and without a terminal it
    # runs without them; "declared": it gets what its Entitlements.plist declares; "none": it gets none of them.
    trust = "ask"

    [bookmarks]
    # Many programs save by writing a new file and renaming it over the old one. "follow": when the file that the user chose is gone
    # and another stands under its name in the same folder, that one is the document, which is recorded, and bookmarks of it are
    # stale; "refuse": it is not, as on iOS. A document that was moved is found wherever it is, under either.
    replaced = "follow"
    # Whether an app may make bookmarks at all; those that whoever has a certain document can open; and those that start their
    # document when they are resolved, by any app.
    create = true
    document_scoped = true
    implicit = true
    # How long after it was made a bookmark can be resolved: "forever", or a time such as "30d".
    lifetime = "forever"

    [environment]
    # What a program needs to speak the user's language and use their terminal; nothing that says who they are.
    pass = ["LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ"]

    [network]
    # "none"; "loopback": a network with nobody in it but the app's own processes; "host": the host's; or "entitlement": as the app's
    # Entitlements.plist asks, with a client or server entitlement opening what entitled says, "loopback" or "host".
    access = "entitlement"
    entitled = "host"

    [files]
    # Programs in the container and its tmp cannot be run.
    execute = false

    [limits]
    # Processes and threads at a time, of this app alone: its user namespace has a count of its own (Linux 5.14; before that, an
    # ordinary user's other processes are counted as well).
    processes = 1024
    # Memory of all of the app's processes together: bytes, "512 MiB", a share of the machine's, or "none". One process that asks
    # for more is refused it; an app that has more is ended.
    memory = "50%"
    # What it may keep in its container: bytes on the disk ("10 GiB") and files. An app that keeps more is ended.
    container = "10 GiB"
    container_files = 1_000_000
    # Processor time of all of its processes, and time from its start: seconds, "90s", "10m", "1h30m".
    cpu_time = "none"
    wall_time = "none"
    # Processors that it may keep busy, for example 1.5. Only control groups can do that.
    processors = "none"
    # Whether a control group enforces memory, processes and processors, where this user may make one. Entering one costs a launch
    # some milliseconds under version 1; what it enforces is exact.
    cgroup = false

    [audit]
    # Whether what the app is refused of files that it opens by name, of sockets and of denied calls is seen while it happens: which
    # path, by which rule, what would have granted it. The refusal is then EPERM, as on macOS. Opening a file by name takes some
    # microseconds more; reading and writing do not.
    observe = false

    [landlock]
    # Whether Landlock repeats for files, each time one is opened, what the mounts say anyhow: a second wall behind the first.
    # Opening a file then takes a quarter more; reading and writing do not. Network, abstract sockets and signals it looks at always.
    files = false

    [seccomp]
    # "standard": Ambit's own filter alone. A profile as container engines have it (OCI, Docker, Podman) holds besides, and can
    # only take away: profile = "containers.json", relative to the policy's own file.
    profile = "standard"

    # Layers that have to hold in full on this kernel and for this app, or it is not run. “ambit plan” has their names, and says how
    # far each goes.
    # [require]
    # layers = ["seccomp", "namespaces", "network"]

    """#

  private static let observedText = #"""
    # For finding out what an app reaches for: what it is refused of files that it opens by name, of sockets and of calls that the
    # filter denies is in the log, with what would have granted it. What the kernel refuses by itself (making a folder, running a
    # program, sending a signal) is not.

    description = "The default with refusals seen and recorded: of files opened by name, sockets and denied calls"
    inherits = "default"

    [audit]
    observe = true

    """#

  private static let stressText = #"""
    # For measurements and soak tests: a limit that only a leak meets.

    description = "The default with a limit of 4096 scopes, for tests under load"
    inherits = "default"

    [scopes]
    limit = "stress"

    """#

  private static let strictText = #"""
    # Everything that Ambit has, and nothing less: what does not hold in full here is a reason not to run the app.

    description = "Every layer in full or no launch: no network, files checked twice, refusals recorded, lower limits"
    inherits = "default"

    [require]
    # Each of these has to hold in full on this kernel. --allow-degraded NAME runs an app without the whole of one, and is recorded.
    layers = [
      "namespaces", "network", "file-tree", "proc", "seccomp", "landlock", "capabilities", "rlimits", "processes", "keyring",
      "hostname", "observer",
    ]

    [network]
    # Whatever the app's entitlements ask for.
    access = "none"

    [landlock]
    # A second wall: what a mount should fail to keep is kept once more.
    files = true

    [environment]
    # Enough to speak the user's language on their terminal.
    pass = ["LANG", "LC_*", "TERM"]

    [files]
    # What an app writes is never run.
    execute = false

    [scopes]
    limit = 32
    # An app that keeps open what it has given back is ended.
    outlived = "end"

    [grants]
    # A right is the user's to give.
    pass = "none"
    # Nor is what it is granted.
    execute = "none"

    [limits]
    processes = 256
    open_files = 512
    # Bytes of the largest file that may be written: 1 GiB.
    file_size = 1_073_741_824

    [audit]
    # A file that it may not open by name, a socket or a call that the filter denies is in the log before the app hears of it.
    observe = true

    """#

  private static let teachText = #"""
    # For lessons: the limit on scopes is so low that one meets it, and what is refused of files opened by name is in the log.

    description = "The default with a limit of 8 scopes, for lessons about balancing start and stop"
    inherits = "default"

    [scopes]
    limit = "teach"

    [audit]
    # What an app is refused is what lessons are about.
    observe = true

    """#
}
