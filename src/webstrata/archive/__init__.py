"""The archive: writes HTTP exchanges and derived resources to WARC files and reads them back.

`warc/` writes, reads, repairs and checks WARC files; `index/` is the CDXJ index of their records; `wacz/` writes, reads
and checks WACZ packages. A capture is acknowledged only after it was synced to the disk.
"""
