# embed_files.cmake as a script: -DOUT=file.cc -DFILES=a.json,b.json. Writes the files' bytes as a sorted table of
# {name without extension, text}, for takt::npu::PresetJson.
string(REPLACE "," ";" FILES "${FILES}")
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"converter/npu/presets.h\"\n\nnamespace takt::npu {\nconst Preset kPresets[] = {\n${rows}};\nconst size_t kPresetCount = sizeof(kPresets) / sizeof(kPresets[0]);\n}  // namespace takt::npu\n")
