"""The experiments of the HACS paper: selecting and ranking pages by what an archive's copies say about them."""
