import { statfsSync } from 'node:fs';
import { errnoOf } from '../errno.ts';

/**
 * Magic numbers of filesystems that live on this machine (statfs(2), and APFS/HFS+ of macOS). A list of the
 * known local ones, not of the network ones: what is not known to be local is not judged.
 */
const LOCAL_TYPES = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x3153464a, // jfs
  0x52654973, // reiserfs
  0xf15f, // ecryptfs
  0x4d44, // vfat
  0x2011bab0, // exfat
  0x7366746e, // ntfs3
  0x1a, // apfs
  0x11, // hfs+
]);

/** False too where it cannot be asked. */
export function isLocalFilesystem(path: string): boolean {
  try {
    return LOCAL_TYPES.has(statfsSync(path).type);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return false;
  }
}
