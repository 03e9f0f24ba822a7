package main

import (
	"fmt"
	"os/user"
	"regexp"
	"strings"

	verbatim "github.com/seed-de4804fb/verbatim"
)

// localPrincipal is the person at this machine: the operating system's user.
func localPrincipal() (name, principal string, err error) {
	u, err := user.Current()
	if err != nil {
		return "", "", fmt.Errorf("find the user of this machine: %w", err)
	}
	name = u.Username
	if i := strings.LastIndexByte(name, '\\'); i >= 0 { // DOMAIN\user on Windows
		name = name[i+1:]
	}
	return name, "local:" + name, nil
}

// localSession is the session of an agent of this user.
func localSession(agent string) (verbatim.Session, error) {
	_, principal, err := localPrincipal()
	if err != nil {
		return verbatim.Session{}, err
	}
	s := verbatim.Session{Tenant: localTenant, Principal: principal, Owner: principal, Agent: agent}
	return s, s.Validate()
}

var notNameCharacters = regexp.MustCompile(`[^a-z0-9-]+`)

// serverName derives a server's catalog name from its command: the package
// or program that is run, without scope, version and "server-".
func serverName(command string, args []string) string {
	word := command
	switch base(command) {
	case "npx", "npm", "node", "uvx", "uv", "python", "python3", "docker", "deno", "bun", "bunx", "pnpm", "yarn":
		for _, a := range args {
			if !strings.HasPrefix(a, "-") && a != "exec" && a != "run" && a != "tool" && a != "dlx" {
				word = a
				break
			}
		}
	}
	name := packageName(word)
	if name == "" {
		return "server"
	}
	return name
}

func packageName(word string) string {
	word = strings.ReplaceAll(word, `\`, "/")
	parts := strings.Split(word, "/")
	name := parts[len(parts)-1]
	for len(parts) > 1 && (name == "" || name == "index.js" || name == "main.py" || name == "dist" || name == "build" || name == "src") {
		parts = parts[:len(parts)-1]
		name = parts[len(parts)-1]
	}
	name, _, _ = strings.Cut(name, "@")
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".py"), ".exe")
	name = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(name), "mcp-"), "server-")
	name = strings.Trim(notNameCharacters.ReplaceAllString(name, "-"), "-")
	if len(name) > 40 {
		name = strings.Trim(name[:40], "-")
	}
	return name
}

func base(command string) string {
	return strings.TrimSuffix(command[strings.LastIndexAny(command, `/\`)+1:], ".exe")
}
