/// The system's uniform types: Apple's identifiers, with their parents and tags.
///
/// One line each: identifier | parents | extensions | MIME types | description. The first extension and the first MIME type are the
/// preferred ones. Parents stand above their children.
enum StandardTypes {
  static let all: [TypeDeclaration] = table.split(separator: "\n").map { line in
    let columns = line.split(separator: "|", omittingEmptySubsequences: false).map { column in
      column.split(separator: " ").map(String.init)
    }
    return TypeDeclaration(
      identifier: columns[0].joined(), conformsTo: columns[1], extensions: columns[2], mimeTypes: columns[3],
      description: columns[4].joined(separator: " "))
  }

  private static let table = """
    public.item||||item
    public.content||||content
    public.composite-content|public.content|||compound document
    public.data|public.item||application/octet-stream|data
    public.directory|public.item|||directory
    public.folder|public.directory||inode/directory|folder
    public.volume|public.folder||inode/mount-point|volume
    com.apple.resolvable||||resolvable item
    public.symlink|public.item com.apple.resolvable||inode/symlink|symbolic link
    com.apple.mount-point|public.item com.apple.resolvable|||mount point
    com.apple.alias-file|public.data com.apple.resolvable|||alias
    com.apple.bookmark|public.data com.apple.resolvable|||bookmark data
    com.apple.package|public.directory|||package
    com.apple.bundle|public.directory|bundle||bundle
    com.apple.plugin|com.apple.bundle com.apple.package|plugin||plug-in
    com.apple.metadata-importer|com.apple.plugin|mdimporter||metadata importer
    com.apple.quicklook-generator|com.apple.plugin|qlgenerator||preview generator
    com.apple.xpc-service|com.apple.bundle com.apple.package|xpc||service
    com.apple.framework|com.apple.bundle|framework||framework
    com.apple.systempreference.prefpane|com.apple.bundle com.apple.package|prefPane||settings pane
    public.executable|public.item|||executable
    com.apple.application|public.executable|||application
    com.apple.application-bundle|com.apple.application com.apple.bundle com.apple.package|app||application
    com.apple.application-and-system-extension|com.apple.xpc-service|appex||application extension
    public.unix-executable|public.data public.executable||application/x-executable application/x-pie-executable|program
    com.microsoft.windows-executable|public.data public.executable|exe|application/x-ms-dos-executable application/x-msdownload|Windows program
    public.url|public.data|||URL
    public.file-url|public.url|||file URL
    com.apple.internet-location|public.data com.apple.resolvable|||internet location
    com.microsoft.internet-shortcut|com.apple.internet-location|url|application/x-mswinurl|web shortcut
    public.text|public.data public.content|||text
    public.plain-text|public.text|txt text asc|text/plain|plain text
    public.utf8-plain-text|public.plain-text|||UTF-8 text
    public.utf16-plain-text|public.plain-text|||UTF-16 text
    public.utf16-external-plain-text|public.plain-text|||UTF-16 text with a byte order mark
    public.delimited-values-text|public.text|||table as text
    public.comma-separated-values-text|public.delimited-values-text|csv|text/csv|table with commas
    public.tab-separated-values-text|public.delimited-values-text|tsv tab|text/tab-separated-values|table with tabs
    public.utf8-tab-separated-values-text|public.tab-separated-values-text public.utf8-plain-text|||table with tabs (UTF-8)
    net.daringfireball.markdown|public.plain-text|md markdown mdown mkd|text/markdown|Markdown text
    public.log|public.plain-text|log|text/x-log|log
    public.rtf|public.text|rtf|application/rtf text/rtf|formatted text
    public.html|public.text|html htm shtml|text/html|web page
    public.xml|public.text|xml|application/xml text/xml|XML
    public.yaml|public.text|yaml yml|application/yaml application/x-yaml text/x-yaml|YAML
    public.css|public.text|css|text/css|style sheet
    public.json|public.text|json|application/json|JSON
    public.geojson|public.json|geojson|application/geo+json|geographic data
    com.apple.haptics.ahap|public.json|ahap||haptic pattern
    com.apple.property-list|public.data|plist||property list
    com.apple.xml-property-list|com.apple.property-list public.xml||application/x-plist|property list (XML)
    com.apple.binary-property-list|com.apple.property-list|||property list (binary)
    public.source-code|public.plain-text|||source code
    public.assembly-source|public.source-code|s asm|text/x-asm|assembly source
    public.c-source|public.source-code|c|text/x-csrc|C source
    public.objective-c-source|public.source-code|m|text/x-objcsrc|Objective-C source
    public.swift-source|public.source-code|swift|text/x-swift|Swift source
    public.c-plus-plus-source|public.source-code|cpp cp c++ cc cxx|text/x-c++src|C++ source
    public.objective-c-plus-plus-source|public.source-code|mm|text/x-objc++src|Objective-C++ source
    public.c-header|public.source-code|h|text/x-chdr|C header
    public.c-plus-plus-header|public.source-code|hpp h++ hh hxx|text/x-c++hdr|C++ header
    com.sun.java-source|public.source-code|java jav|text/x-java|Java source
    public.make-source|public.script|mk mak|text/x-makefile|makefile
    public.script|public.source-code|||script
    public.shell-script|public.script|sh command|application/x-shellscript text/x-sh|shell script
    public.bash-script|public.shell-script|bash||bash script
    public.zsh-script|public.shell-script|zsh||zsh script
    public.perl-script|public.shell-script|pl pm|application/x-perl|Perl script
    public.python-script|public.shell-script|py|text/x-python application/x-python|Python script
    public.ruby-script|public.shell-script|rb rbw|application/x-ruby|Ruby script
    public.php-script|public.shell-script|php php3 php4 ph3 ph4 phtml|application/x-php|PHP script
    com.netscape.javascript-source|public.source-code public.executable|js jscript javascript mjs|text/javascript application/javascript|JavaScript
    com.apple.applescript.text|public.script|applescript|text/applescript|AppleScript
    com.apple.applescript.script|public.data public.script|scpt||compiled script
    com.apple.applescript.script-bundle|com.apple.bundle com.apple.package public.script|scptd||script bundle
    com.adobe.pdf|public.data public.composite-content|pdf|application/pdf|PDF document
    com.adobe.postscript|public.data public.composite-content|ps|application/postscript|PostScript document
    com.apple.rtfd|com.apple.package public.composite-content|rtfd||formatted text with pictures
    com.apple.flat-rtfd|public.data public.composite-content|||formatted text with pictures (one file)
    com.apple.webarchive|public.data public.composite-content|webarchive|application/x-webarchive|web archive
    org.idpf.epub-container|public.data public.composite-content|epub|application/epub+zip|electronic book
    com.microsoft.word.doc|public.data public.composite-content|doc|application/msword|Word document (97-2003)
    org.openxmlformats.wordprocessingml.document|public.data public.composite-content|docx|application/vnd.openxmlformats-officedocument.wordprocessingml.document|Word document
    org.oasis-open.opendocument.text|public.data public.composite-content|odt|application/vnd.oasis.opendocument.text|text document
    public.spreadsheet|public.content|||spreadsheet
    com.microsoft.excel.xls|public.data public.spreadsheet|xls|application/vnd.ms-excel|Excel workbook (97-2003)
    org.openxmlformats.spreadsheetml.sheet|public.data public.spreadsheet|xlsx|application/vnd.openxmlformats-officedocument.spreadsheetml.sheet|Excel workbook
    org.oasis-open.opendocument.spreadsheet|public.data public.spreadsheet|ods|application/vnd.oasis.opendocument.spreadsheet|spreadsheet document
    public.presentation|public.composite-content|||presentation
    com.microsoft.powerpoint.ppt|public.data public.presentation|ppt|application/vnd.ms-powerpoint|PowerPoint presentation (97-2003)
    org.openxmlformats.presentationml.presentation|public.data public.presentation|pptx|application/vnd.openxmlformats-officedocument.presentationml.presentation|PowerPoint presentation
    org.oasis-open.opendocument.presentation|public.data public.presentation|odp|application/vnd.oasis.opendocument.presentation|presentation document
    com.apple.iwork.pages.pages|com.apple.package public.composite-content|pages||Pages document
    com.apple.iwork.numbers.numbers|com.apple.package public.spreadsheet|numbers||Numbers document
    com.apple.iwork.keynote.key|com.apple.package public.presentation|key||Keynote document
    com.apple.garageband.project|com.apple.package public.content|band||GarageBand project
    com.apple.logic.project|com.apple.package public.content|logicx||Logic project
    com.apple.playground|com.apple.package public.content|playground||playground
    com.omnigroup.omnigraffle.graffle-package|com.apple.package public.composite-content|graffle||OmniGraffle document
    com.literatureandlatte.scrivener.scriv|com.apple.package public.composite-content|scriv||Scrivener project
    org.textbundle.package|com.apple.package public.composite-content|textbundle||text bundle
    com.ulyssesapp.ulysses.package|com.apple.package public.composite-content|ulysses||Ulysses document
    public.image|public.data public.content|||image
    public.png|public.image|png|image/png|PNG image
    public.jpeg|public.image|jpeg jpg jpe|image/jpeg|JPEG image
    public.jpeg-2000|public.image|jp2 jpf jpx j2k|image/jp2|JPEG 2000 image
    public.jpeg-xl|public.image|jxl|image/jxl|JPEG XL image
    public.tiff|public.image|tiff tif|image/tiff|TIFF image
    com.compuserve.gif|public.image|gif|image/gif|GIF image
    com.apple.icns|public.image|icns|image/x-icns|icon (macOS)
    com.microsoft.bmp|public.image|bmp dib|image/bmp|bitmap image
    com.microsoft.ico|public.image|ico|image/vnd.microsoft.icon image/x-icon|icon (Windows)
    org.webmproject.webp|public.image|webp|image/webp|WebP image
    public.svg-image|public.image public.xml|svg svgz|image/svg+xml|SVG image
    public.camera-raw-image|public.image||image/x-dcraw|raw image of a camera
    com.adobe.raw-image|public.camera-raw-image|dng|image/x-adobe-dng|raw image (DNG)
    public.heif-standard|public.image|heif|image/heif|HEIF image
    public.heic|public.heif-standard|heic|image/heic|HEIC image
    public.avif|public.heif-standard|avif|image/avif|AVIF image
    com.ilm.openexr-image|public.image|exr|image/x-exr image/aces|OpenEXR image
    com.adobe.photoshop-image|public.image|psd|image/vnd.adobe.photoshop|Photoshop image
    com.apple.live-photo||||live photo
    public.3d-content|public.content|||3D model
    com.pixar.universal-scene-description|public.data public.3d-content|usd usda usdc|model/vnd.usd|3D scene
    com.pixar.universal-scene-description-mobile|public.data public.3d-content|usdz|model/vnd.usdz+zip|3D scene (one file)
    com.apple.reality|public.data|reality|model/vnd.reality|Reality file
    com.apple.scenekit.scene|public.data public.3d-content|scn||SceneKit scene
    com.apple.arobject|public.data|arobject||reference object
    public.audiovisual-content|public.data public.content|||audiovisual content
    public.movie|public.audiovisual-content|||movie
    public.video|public.movie|||video
    public.audio|public.audiovisual-content|||audio
    com.apple.quicktime-movie|public.movie|mov qt|video/quicktime|QuickTime movie
    public.mpeg|public.movie|mpg mpeg mpe|video/mpeg|MPEG movie
    public.mpeg-2-video|public.video|m2v|video/mpeg2|MPEG-2 video
    public.mpeg-2-transport-stream|public.movie||video/mp2t|MPEG-2 stream
    public.mpeg-4|public.movie|mp4 mpeg4|video/mp4|MPEG-4 movie
    com.apple.m4v-video|public.movie|m4v|video/x-m4v|MPEG-4 movie (Apple)
    com.apple.protected-mpeg-4-video|com.apple.m4v-video|||protected movie
    public.avi|public.movie|avi vfw|video/x-msvideo video/vnd.avi video/avi|AVI movie
    org.webmproject.webm|public.movie|webm|video/webm|WebM movie
    org.matroska.mkv|public.movie|mkv|video/x-matroska|Matroska movie
    public.mp3|public.audio|mp3 mpga|audio/mpeg audio/mp3|MP3 audio
    public.mpeg-4-audio|public.mpeg-4 public.audio|m4a mp4a|audio/mp4|MPEG-4 audio
    com.apple.m4a-audio|public.mpeg-4-audio||audio/x-m4a|MPEG-4 audio (Apple)
    com.apple.protected-mpeg-4-audio|public.mpeg-4-audio|m4p||protected audio
    public.aac-audio|public.audio|aac adts|audio/aac|AAC audio
    public.aiff-audio|public.audio|aiff aif|audio/x-aiff audio/aiff|AIFF audio
    com.microsoft.waveform-audio|public.audio|wav wave|audio/x-wav audio/vnd.wave audio/wav|waveform audio
    public.midi-audio|public.audio|midi mid|audio/midi|MIDI
    org.xiph.flac|public.audio|flac|audio/flac|FLAC audio
    org.xiph.ogg-audio|public.audio|oga ogg|audio/ogg|Ogg audio
    public.playlist||||playlist
    public.m3u-playlist|public.plain-text public.playlist|m3u m3u8|audio/x-mpegurl application/vnd.apple.mpegurl|playlist (M3U)
    public.font|public.data public.content|||font
    public.truetype-ttf-font|public.font|ttf|font/ttf|TrueType font
    public.opentype-font|public.font|otf|font/otf|OpenType font
    public.truetype-collection-font|public.font|ttc|font/collection|font collection
    org.w3.woff|public.font|woff|font/woff|web font
    org.w3.woff2|public.font|woff2|font/woff2|web font 2
    public.archive|public.data|||archive
    public.zip-archive|public.data public.archive|zip|application/zip|ZIP archive
    org.gnu.gnu-zip-archive|public.data public.archive|gz gzip|application/gzip application/x-gzip|gzip archive
    org.gnu.gnu-zip-tar-archive|org.gnu.gnu-zip-archive|tgz|application/x-compressed-tar|tar archive (gzip)
    public.bzip2-archive|public.data public.archive|bz2 bz|application/x-bzip2 application/x-bzip|bzip2 archive
    org.tukaani.xz-archive|public.data public.archive|xz|application/x-xz|xz archive
    public.tar-archive|public.data public.archive|tar|application/x-tar|tar archive
    com.apple.archive|public.data public.archive|aar||Apple archive
    org.7-zip.7-zip-archive|public.data public.archive|7z|application/x-7z-compressed|7-Zip archive
    com.rarlab.rar-archive|public.data public.archive|rar|application/vnd.rar application/x-rar|RAR archive
    public.zstd-archive|public.data public.archive|zst|application/zstd|Zstandard archive
    public.disk-image|public.archive|||disk image
    public.iso-image|public.disk-image|iso|application/x-cd-image application/x-iso9660-image|disk image (ISO)
    com.apple.disk-image-udif|public.disk-image|dmg|application/x-apple-diskimage|disk image (Apple)
    public.database||||database
    public.message||||message
    public.email-message|public.data public.message|eml|message/rfc822|e-mail message
    public.contact||||contact
    public.vcard|public.text public.contact|vcf vcard|text/vcard text/directory|contact (vCard)
    public.to-do-item||||to-do item
    public.calendar-event||||calendar event
    com.apple.ical.ics|public.text public.calendar-event|ics|text/calendar|calendar
    public.bookmark|com.apple.resolvable|||bookmark
    com.rsa.pkcs-12|public.data|p12 pfx|application/x-pkcs12 application/pkcs12|certificates with keys
    public.x509-certificate|public.data|cer crt der|application/x-x509-ca-cert application/pkix-cert|certificate
    com.apple.linkpresentation.metadata|public.data|||link preview
    """
}
