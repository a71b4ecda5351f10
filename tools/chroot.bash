# Bare Debian systems in a directory, for the tests that source this: as root, on
# Debian.
#
# Promises: they come from the archive that this machine's own apt is set up
# for, by the same way (proxies, credentials, certificates).  What chroot_inside
# runs is in namespaces of its own (mounts, processes, shared memory), which end
# with it, however it ends.

# chroot_inside DIR COMMAND...: run it, remove DIR, and exit with its status.
chroot_inside()
{
	local status=0
	chroot_dir=$1
	chroot_child=
	shift
	trap chroot_cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	unshare --mount --pid --ipc --fork --kill-child --mount-proc "$@" &
	chroot_child=$!
	wait "$chroot_child" || status=$?
	chroot_child=
	exit "$status"
}

chroot_cleanup()
{
	local tries
	trap '' INT TERM HUP
	# unshare hears nothing else, and the namespace dies with it.
	[ -z "$chroot_child" ] || { kill -KILL "$chroot_child" && wait "$chroot_child"; } 2>/dev/null || :
	for tries in 1 2 3 4 5; do
		rm -rf --one-file-system "$chroot_dir" && break
		sleep "$tries"
	done
}

chroot_own_suite() { (. /etc/os-release && echo "${VERSION_CODENAME:?}"); }

# What apt is set up for here: one line `address suite component` for each part
# of this Debian's own archive.
chroot_archive()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v suite="$(chroot_own_suite)" '$2 ~ "^" suite "(-updates|-security)?$" && !seen[$0]++'
}

# Where the archive is.
chroot_mirror()
{
	local mirror
	mirror=$(chroot_archive | awk -v suite="$(chroot_own_suite)" '$2 == suite { print $1; exit }')
	[ -n "$mirror" ] || { echo "apt knows no archive of $(chroot_own_suite)" >&2; return 1; }
	echo "$mirror"
}

# chroot_offers SUITE: whether the archive can be reached and has it.
chroot_offers()
{
	local file status=0
	file=$(mktemp)
	/usr/lib/apt/apt-helper download-file "$(chroot_mirror)/dists/$1/InRelease" \
		"$file" >/dev/null 2>&1 || status=$?
	rm -f "$file"
	return "$status"
}

# chroot_make ROOT SUITE LOG PACKAGES: a system with these packages (with commas)
# and apt's way to the archive.
chroot_make()
{
	local root=$1 suite=$2 log=$3 packages=$4 pause path script=
	# Debian's suites all go by one script; debootstrap lacks the names of those
	# that came after it.
	[ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/sid
	for pause in 10 60 ""; do
		rm -rf --one-file-system "$root"
		debootstrap --variant=minbase "--include=$packages" "$suite" "$root" \
			"$(chroot_mirror)" $script >"$log" 2>&1 && break
		[ -n "$pause" ] || return 1
		echo "debootstrap failed, again in $pause s"
		sleep "$pause"
	done

	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$root/etc/apt/apt.conf.d/01machine" || :
	for path in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/resolv.conf /etc/hosts /etc/ssl/certs; do
		[ ! -e "$path" ] || { mkdir -p "$root${path%/*}" && cp -RLT "$path" "$root$path"; }
	done
	# Nothing here has to outlive a power cut.
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# chroot_mount ROOT: what every program counts on.
chroot_mount()
{
	mount -t proc proc "$1/proc"
	mkdir -p "$1/dev/shm" "$1/dev/pts"
	mount -t tmpfs tmpfs "$1/dev/shm"
	mount -t devpts devpts "$1/dev/pts"
}

# chroot_run ROOT COMMAND...
chroot_run()
{
	local root=$1
	shift
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} "$@"
}

# chroot_copy TOP DIR: the checkout's files as they lie there, into an empty
# directory; from an unpacked archive, all there is.
chroot_copy()
{
	if [ -e "$1/.git" ]; then
		git -c 'safe.directory=*' -C "$1" ls-files -z --cached --others --exclude-standard
	else
		find "$1" -type f -printf '%P\0'
	fi | tar -c -C "$1" --null --ignore-failed-read -T - -f - 2>/dev/null |
		tar -x --no-same-owner -C "$2" -f -
}

# shout LINE...
shout()
{
	echo "*****************************************************************"
	printf '* %s\n' "$@"
	echo "*****************************************************************"
}
