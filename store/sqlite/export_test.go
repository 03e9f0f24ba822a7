package sqlite

// VersionTable lets tests make stores of earlier versions.
const VersionTable = versionTable
