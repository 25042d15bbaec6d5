/// The policies for common kinds of app.
extension BuiltinPolicies {
  static let batchText = #"""
    # For command-line tools that are handed their files, work through them and end: converters, compressors, scripts.

    description = "Documents that are started when they are handed over, until it ends; no network: for command-line tools"
    inherits = "default"

    [scopes]
    # A tool that knows nothing of scopes finds its file open.
    start_picked = true
    references = false
    limit = 1024

    [grants]
    lifetime = "launch"
    pass = "none"
    execute = "none"

    [bookmarks]
    create = false

    [network]
    access = "none"

    [limits]
    processes = 256
    # Who loops is ended.
    cpu_time = "1h"
    wall_time = "6h"
    container = "5 GiB"

    """#

  static let browserText = #"""
    # For apps that show what strangers wrote: browsers, mail, chat. The network is what they are for, so documents are what they
    # must not keep.

    description = "The network; single documents for reading, until it ends: for browsers and other clients"
    inherits = "default"

    [network]
    # As a client or server entitlement asks.
    access = "entitlement"
    entitled = "host"

    [picker]
    # One is sent, one is saved. A folder would be too much to lose.
    modes = ["open", "export"]
    folders = false

    [grants]
    # What is sent is read. What is saved is written where the user says, as a copy.
    access = "read-only"
    # With the network at hand no right is kept.
    lifetime = "launch"
    pass = "none"
    execute = "none"

    [bookmarks]
    create = false

    [scopes]
    references = false
    limit = 16
    # A file that was sent is given back.
    outlived = "end"

    [limits]
    processes = 4096
    memory = "75%"
    # A cache.
    container = "10 GiB"

    """#

  static let developerText = #"""
    # For programs that build and run programs: development environments, shells and compilers in a picked folder.

    description = "Picked folders whose programs can be run, the host's network, and much room: for development tools"
    inherits = "default"

    [grants]
    # A project is a folder, and what is built in it is run there.
    execute = "any"
    # What a tool prints names files as the user knows them.
    host_paths = true

    [scopes]
    # One for each package that a project consists of.
    limit = 1024

    [files]
    # Tools install tools: packages of a language, extensions of an editor.
    execute = true

    [network]
    # Whatever the entitlements ask for: packages come from there, and servers are tried out.
    access = "host"

    [environment]
    # Besides the language and the terminal, which editor and pager a person likes. No tokens, no sockets of keyrings.
    pass = [
      "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ", "EDITOR", "VISUAL", "PAGER",
    ]

    [limits]
    processes = 8192
    open_files = 65536
    memory = "75%"
    container = "100 GiB"
    container_files = "none"

    """#

  static let editorText = #"""
    # For apps that change documents, one or many at a time: editors of text, images and sheets.

    description = "Documents and folders for reading and writing, kept until withdrawn, and no network: for editors"
    inherits = "default"

    [network]
    # What needs the network, as to share a document, runs under another policy.
    access = "none"

    [grants]
    # No program in what it opens is run.
    execute = "none"

    [bookmarks]
    # Saving by writing anew and renaming is how editors save, this one and others.
    replaced = "follow"
    # A list of recent documents needs bookmarks of its own. What others can open is for apps that are made for it.
    document_scoped = false
    implicit = false

    [limits]
    container = "5 GiB"

    """#

  static let gameText = #"""
    # For games that are played alone: they keep their scores in their container and need nothing else.

    description = "No documents and no network, most of the memory: for games"
    inherits = "default"

    [picker]
    # It has nothing to ask for.
    modes = []

    [scopes]
    references = false

    [grants]
    lifetime = "launch"
    pass = "none"
    execute = "none"

    [bookmarks]
    create = false

    [network]
    # Its own processes may speak to each other.
    access = "loopback"

    [limits]
    memory = "75%"
    processes = 512
    # Levels and saved games.
    container = "20 GiB"

    """#

  static let kioskText = #"""
    # For one document at a time and nothing besides: a form to fill in, a terminal in a lobby, an examination.

    description = "One document at a time, forgotten when it ends; no folders, no network: for kiosks"
    inherits = "default"

    [scopes]
    limit = 1
    # Nothing is left for who comes next.
    references = false
    outlived = "end"

    [picker]
    modes = ["open"]
    folders = false

    [grants]
    persisted = 1
    lifetime = ["launch", "8h"]
    pass = "none"
    execute = "none"

    [bookmarks]
    create = false

    [network]
    access = "none"

    [limits]
    processes = 128
    memory = "25%"
    container = "256 MiB"
    wall_time = "12h"

    """#

  static let mediaPlayerText = #"""
    # For apps that play: music, films, pictures. A whole library is a folder.

    description = "Audio, films and pictures for reading only, single or by the folder: for players"
    inherits = "default"

    [picker]
    modes = ["open"]
    # Playlists and subtitles lie beside what they are about; with the folder the player sees them all the same.
    types = ["public.audio", "public.movie", "public.image", "m3u", "m3u8", "pls", "cue", "srt", "vtt"]
    folders = true

    [grants]
    access = "read-only"
    pass = "none"
    execute = "none"

    [network]
    # A player that streams says so in its entitlements.
    access = "entitlement"
    entitled = "host"

    [limits]
    # Covers and an index.
    container = "2 GiB"
    processes = 256

    """#

  static let untrustedText = #"""
    # For what nobody vouches for: something that came by mail, a sample, a program to be looked at. Everything of the policy strict,
    # and besides nothing is kept, nothing is changed and nothing goes on for long.

    description = "As strict, and documents for reading until it ends, an hour at most, little room: for the unknown"
    inherits = "strict"

    [picker]
    modes = ["open"]
    folders = false

    [grants]
    access = "read-only"
    lifetime = "launch"
    persisted = 8

    [scopes]
    limit = 4
    references = false

    [bookmarks]
    create = false
    replaced = "refuse"

    [environment]
    # Not even the language.
    pass = ["TERM"]

    [limits]
    processes = 64
    memory = "1 GiB"
    container = "256 MiB"
    file_size = 268_435_456
    container_files = 10_000
    cpu_time = "10m"
    wall_time = "1h"

    """#

  static let viewerText = #"""
    # For apps that show documents and change none: readers of PDF and of books, viewers of images.

    description = "Documents for reading only, and no network: for viewers and readers"
    inherits = "default"

    [grants]
    # Whatever the app asks for: what it shows it cannot change.
    access = "read-only"
    # What was not opened for a month it asks for again.
    lifetime = "30d"
    pass = "none"
    execute = "none"

    [picker]
    modes = ["open"]

    [network]
    # What a document says stays here.
    access = "none"

    [limits]
    # Room for what it renders beforehand.
    container = "1 GiB"
    container_files = 100_000

    """#
}
