import AmbitKit
