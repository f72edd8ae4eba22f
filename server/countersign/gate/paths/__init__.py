"""Judge paths: resolve a path to what it names on disk, then apply built-in protections and path rules to it."""
